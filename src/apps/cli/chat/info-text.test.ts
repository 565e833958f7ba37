import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { scriptedModel } from '../../../adapters/testing/scripted-model.ts'
import { agentTool } from '../../../engine/agent/agents/agent-tool.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { tool } from '../../../engine/tool/define-tool.ts'
import { createPaint } from '../screen/paint.ts'
import { textWidth } from '../screen/text-width.ts'
import { COMMANDS } from './commands.ts'
import { headerText, helpText, stateText, toolsText } from './info-text.ts'

const look = tool({ name: 'look', description: 'Looks\x1b[2J around', run: () => 1 })
const helper = new LlmAgent({ name: 'helper', model: 'gpt-5', description: 'Helps', tools: [look] })
const billing = new LlmAgent({ name: 'billing' })
const model = scriptedModel([], { name: 'm-1\x1b[2J' })
const agent = new LlmAgent({ name: 'desk', model, tools: [agentTool(helper)], subAgents: [billing] })
const wide = { width: 80, paint: createPaint(false) }

test('the header shows agents, models, tools, the session and how to exit', () => {
  expect(headerText(agent, 's1, in memory', wide)).toBe(`agent    desk, with billing, helper
model    m-1\\x1b[2J, gpt-5
tools    helper, look
session  s1, in memory
/help lists the commands, Ctrl+D exits

`)
})

test('the header of a custom agent shows no model and no tools', () => {
  const own = { name: 'own', async *run() {} }
  expect(headerText(own, 'new', wide)).toContain('model    none\ntools    none\n')
})

test('/tools lists the tools of each agent', () => {
  expect(toolsText(agent, wide)).toBe(
    'desk\n  helper             Helps\nbilling\n  no tools\nhelper\n  look               Looks\\x1b[2J around\n',
  )
})

test('/state shows each key in full, with control characters escaped', () => {
  expect(stateText({})).toBe('The state is empty.\n')
  expect(stateText({ 'user:name': 'Ada', 'k\x1b[2J': ['\x9b2J'] })).toBe('user:name: "Ada"\nk\\x1b[2J: ["\\u009b2J"]\n')
})

test('/help lists every command and truncates nothing', () => {
  const text = helpText({ width: 30, paint: createPaint(false) })
  for (const name of COMMANDS.keys()) expect(text).toContain(`/${name}`)
  expect(text).not.toContain('…')
})

test('header and /tools fit a narrow terminal', () => {
  const narrow = { width: 40, paint: createPaint(true) }
  const text = headerText(agent, 'new, in memory', narrow) + toolsText(agent, narrow)
  for (const line of stripVTControlCharacters(text).split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(40)
})
