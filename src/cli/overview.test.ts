import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { agentTool } from '../agent/agents/agent-tool.ts'
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { tool } from '../tool/define.ts'
import { columnsOf } from './columns.ts'
import { COMMANDS } from './commands.ts'
import { headerOf, helpText, stateText, toolsText } from './overview.ts'
import { paintFor } from './paint.ts'

const look = tool({ name: 'look', description: 'Looks\x1b[2J around', run: () => 1 })
const helper = new LlmAgent({ name: 'helper', model: 'gpt-5', description: 'Helps', tools: [look] })
const billing = new LlmAgent({ name: 'billing' })
const model = scriptedModel([], { name: 'm-1\x1b[2J' })
const agent = new LlmAgent({ name: 'desk', model, tools: [agentTool(helper)], subAgents: [billing] })
const wide = { width: 80, paint: paintFor(false) }

test('the header names the agents, models, tools, the session and how to leave', () => {
  expect(headerOf(agent, 's1, in memory', wide)).toBe(`agent    desk, with billing, helper
model    m-1\\x1b[2J, gpt-5
tools    helper, look
session  s1, in memory
/help for commands, Ctrl+D leaves

`)
})

test('an agent of your own without model and tools has a header too', () => {
  const own = { name: 'own', async *run() {} }
  expect(headerOf(own, 'new', wide)).toContain('model    none\ntools    none\n')
})

test('/tools lists the tools of each agent', () => {
  expect(toolsText(agent, wide)).toBe(
    'desk\n  helper             Helps\nbilling\n  no tools\nhelper\n  look               Looks\\x1b[2J around\n',
  )
})

test('/state shows each key in full, and nothing in it acts', () => {
  expect(stateText({})).toBe('The state is empty.\n')
  expect(stateText({ 'user:name': 'Ada', 'k\x1b[2J': ['\x9b2J'] })).toBe('user:name: "Ada"\nk\\x1b[2J: ["\\u009b2J"]\n')
})

test('/help names every command and is never cut', () => {
  const text = helpText({ width: 30, paint: paintFor(false) })
  for (const name of COMMANDS.keys()) expect(text).toContain(`/${name}`)
  expect(text).not.toContain('…')
})

test('every line fits a narrow terminal', () => {
  const narrow = { width: 40, paint: paintFor(true) }
  const text = headerOf(agent, 'new, in memory', narrow) + toolsText(agent, narrow)
  for (const line of stripVTControlCharacters(text).split('\n')) expect(columnsOf(line)).toBeLessThanOrEqual(40)
})
