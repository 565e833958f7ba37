import type { JsonObject } from '../../../core/base/json.ts'
import { literal } from '../../../core/base/source-literal.ts'
import { toolErrorOf } from '../../../engine/runner/single-call/call-error.ts'
import type { SavedDecision } from './saved-decisions.ts'

/** A call to save as a test. */
export interface SavedCall {
  /** The agent that has the tool. */
  readonly agent: string
  /** The tool. */
  readonly tool: string
  /** The arguments. */
  readonly args: JsonObject
  /** What the tool returned. */
  readonly response: JsonObject
  /** What a person decided about the call, in order. Default: what needs an approval is approved. */
  readonly decisions?: readonly SavedDecision[] | undefined
  /** The file that exports the agent, as an import names it. */
  readonly file: string
  /** The test runner. */
  readonly runner: 'node:test' | 'vitest'
}

/** The source of a test that makes the call again and expects the same result. All names and values are escaped. */
export function writeTest({ agent, tool, args, response, decisions = [], file, runner }: SavedCall): string {
  const isFailure = typeof response.error === 'string' && typeof response.errorCode === 'string'
  const title = `${tool} ${isFailure ? 'fails' : 'returns'} as it did in the tool bench`
  return `${runner === 'vitest' ? '' : `import assert from 'node:assert/strict'\n`}${
    runner === 'vitest' ? '' : `import { test } from 'node:test'\n`
  }import { type Agent, LlmAgent, Runner, ToolDispatcher } from 'toolwright'
import { createToolContext } from 'toolwright/testing'
${runner === 'vitest' ? `import { expect, test } from 'vitest'\n` : ''}import app from ${literal(file)}

test(${literal(title)}, async () => {
  const tools = await findAgent(app, ${literal(agent)}).listTools(createToolContext())
  const tool = tools.find(({ name }) => name === ${literal(tool)})
  if (!tool) throw new Error('The agent no longer has the tool.')
${provider(decisions)}
  const dispatcher = new ToolDispatcher({ confirmationProvider }).register(tool)
  const args = ${literal(args)}
${isFailure ? failure(tool, response, runner) : success(tool, response, runner)}
})

function findAgent(root: Agent | Runner, name: string): LlmAgent {
  const agents: Agent[] = [root instanceof Runner ? root.agent : root]
  for (const agent of agents) {
    if (agent.name === name && agent instanceof LlmAgent) return agent
    agents.push(...(agent.subAgents ?? []))
  }
  throw new Error(\`There is no agent "\${name}".\`)
}
`
}

/** The name of the file of a test. Beside an `.mts` file, the folder may be one whose `.ts` files are CommonJS. */
export function testFileName(tool: string, agentFile: string): string {
  const ending = /\.m[jt]s$/.test(agentFile) ? 'mts' : 'ts'
  return `${tool.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60) || 'tool'}.test.${ending}`
}

function success(tool: string, response: JsonObject, runner: SavedCall['runner']): string {
  const call = `  const result = await dispatcher.call(${literal(tool)}, args)\n`
  const expected = `  const expected = ${literal(response)}\n`
  const check = runner === 'vitest' ? 'expect(result).toEqual(expected)' : 'assert.deepEqual(result, expected)'
  return `${call}  // Replace values that differ between calls, such as times and ids.\n${expected}  ${check}`
}

/** The dispatcher throws another message than the model gets. That of a deadline depends on the dispatcher. */
function failure(tool: string, response: JsonObject, runner: SavedCall['runner']): string {
  const { code, message } = toolErrorOf(response, tool, 0)
  const expected = literal(code === 'TIMEOUT' ? { code } : { code, message })
  const call = `dispatcher.call(${literal(tool)}, args)`
  return runner === 'vitest'
    ? `  await expect(${call}).rejects.toMatchObject(${expected})`
    : `  await assert.rejects(${call}, ${expected})`
}

function provider(decisions: readonly SavedDecision[]): string {
  const [first = { confirmed: true }, ...others] = decisions
  if (others.length === 0) return `  const confirmationProvider = () => (${literal(first)})`
  const list = `  const decisions = ${literal(decisions)}\n`
  return `${list}  const confirmationProvider = () => decisions.shift() ?? { confirmed: false }`
}
