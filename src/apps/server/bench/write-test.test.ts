import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { approve, deny } from 'toolwright'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { AnswerMeaning } from '../../../core/event/read-answer.ts'
import type { RequestView } from '../../../core/event/views/views.ts'
import type { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { CallRunner } from '../../../engine/runner/single-call/call-runner.ts'
import { argsToRepeat, decisionsOf } from './saved-decisions.ts'
import { type SavedCall, testFileName, writeTest } from './write-test.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
/** Beside the examples, where the import of the agent and of toolwright work as for a user. */
const folder = `${root}examples/.saved-calls-${process.pid}`

beforeAll(() => mkdir(folder))
afterAll(() => rm(folder, { recursive: true, force: true }))

const saved: SavedCall = {
  agent: 'weather',
  tool: 'get_weather',
  args: { city: 'Oslo' },
  response: { city: 'Oslo', celsius: -3 },
  file: '../weather.ts',
  runner: 'node:test',
}

/** Runs saved calls with Node, in one process because its start takes a second. True for each that passes. */
async function pass(calls: { readonly [title: string]: Partial<SavedCall> }): Promise<boolean[]> {
  const names = Object.keys(calls)
  for (const name of names) await writeFile(`${folder}/${name}.ts`, writeTest({ ...saved, ...calls[name] }))
  await writeFile(`${folder}/all.ts`, names.map((name) => `import './${name}.ts'`).join('\n'))
  const flags = ['--conditions=toolwright:source', '--test-reporter=tap', `${folder}/all.ts`]
  const output = await promisify(execFile)(process.execPath, flags).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string }) => error.stdout,
  )
  return Array.from(output.matchAll(/^(not )?ok \d+ - /gm), ([, not]) => not === undefined)
}

test('a saved call runs as a test beside its agent, and fails when the result is another', async () => {
  const failed = { error: 'Nobody measures in Rome.', errorCode: 'NOT_FOUND' }
  const passed = await pass({
    result: {},
    failure: { args: { city: 'Rome' }, response: failed },
    otherResult: { response: { city: 'Oslo', celsius: 30 } },
    otherFailure: { response: failed },
  })
  expect(passed).toEqual([true, true, false, false])
}, 20_000)

/** Beside the saved tests, as the agent file of a user is. */
const DESK = `
import { LlmAgent, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
const parameters = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] }
const crash = tool({ name: 'crash', description: 'Crashes.', run: () => { throw new TypeError('x') } })
const refund = tool({
  name: 'refund',
  description: 'Refunds.',
  parameters,
  requiresConfirmation: true,
  allowEditedArgs: true,
  run: ({ amount }, context) => ({ refunded: amount, note: context.toolConfirmation?.payload ?? null }),
})
const check = tool({ name: 'check', description: 'Checks.', parameters, run: ({ amount }) => ({ error: 'odd', amount }) })
const slow = tool({ name: 'slow', description: 'Waits.', timeoutMs: 20, run: () => new Promise(() => {}) })
export default new LlmAgent({ name: 'desk', model: scriptedModel([]), tools: [crash, refund, check, slow] })
`

/** Makes a call as the tool bench does, with the answers of a person. */
async function benchCall(tool: string, args: JsonObject, answers: readonly AnswerMeaning[] = []): Promise<SavedCall> {
  const { default: desk } = (await import(`${folder}/desk.mts`)) as { default: LlmAgent }
  const logger = { warn: () => {}, error: () => {} }
  const calls = new CallRunner({ appName: 'desk', agentName: 'desk', tools: desk.options.tools ?? [], logger })
  let outcome = await calls.run({ name: tool, args }, { userId: 'ada' })
  for (const answer of answers) {
    if (outcome.type !== 'pending' || !outcome.requests[0]) throw new Error('The call does not wait.')
    const [request] = outcome.requests
    outcome = await calls.answer([partOf(request, answer)], { userId: 'ada', sessionId: outcome.sessionId })
  }
  if (outcome.type !== 'result') throw new Error('The call has no result.')
  // only what the functions read
  const requests = answers.map((answer) => ({ kind: 'confirmation', answer }) as RequestView)
  const call = { args, changedArgs: undefined, requests }
  const again = { args: argsToRepeat(call), decisions: decisionsOf(call) }
  return { agent: 'desk', tool, ...again, response: outcome.result.response, file: './desk.mts', runner: 'node:test' }
}

function partOf(request: PendingRequest, answer: AnswerMeaning): Part {
  if (answer.type === 'approved') {
    const { args, payload } = answer
    return approve(request, { ...(args && { args }), ...(payload !== undefined && { payload }) })
  }
  return deny(request, 'reason' in answer && answer.reason ? { reason: answer.reason } : {})
}

test('a saved call that crashed, was refused, denied or edited passes at once', async () => {
  await writeFile(`${folder}/desk.mts`, DESK)
  const edited = await benchCall('refund', { amount: 5 }, [{ type: 'approved', args: { amount: 4 } }])
  const denied = await benchCall('refund', { amount: 5 }, [{ type: 'denied', reason: 'no' }])
  const calls = {
    crash: await benchCall('crash', {}),
    invalid: await benchCall('refund', { amount: 'five' }),
    denied,
    deniedWithoutReason: await benchCall('refund', { amount: 5 }, [{ type: 'denied' }]),
    edited,
    payload: await benchCall('refund', { amount: 5 }, [{ type: 'approved', payload: 'ok' }]),
    ownError: await benchCall('check', { amount: 5 }),
    timeout: await benchCall('slow', {}),
  }
  expect(edited.response).toEqual({ refunded: 4, note: null, editedArgs: { amount: 4 } })
  expect(denied.response.error).toBe('tool call was rejected by the user: no')
  const others = {
    otherCrash: { ...calls.crash, response: { ...calls.crash.response, error: 'y' } },
    otherReason: { ...denied, decisions: [{ confirmed: false, hint: 'later' }] },
    otherEdit: { ...edited, decisions: [{ confirmed: true, args: { amount: 3 } }] },
  }
  const passed = await pass({ ...calls, ...others })
  expect(passed).toEqual([...Object.keys(calls).map(() => true), ...Object.keys(others).map(() => false)])
}, 20_000)

test('a saved call with several approvals gives each its decision', () => {
  const code = writeTest({ ...saved, decisions: [{ confirmed: true }, { confirmed: false, hint: 'no' }] })
  expect(code).toContain('decisions.shift()')
})

test('a saved call can use vitest instead of node:test', () => {
  const code = writeTest({ ...saved, runner: 'vitest' })
  expect(code).toContain("import { expect, test } from 'vitest'")
  expect(code).not.toContain('assert')
})

test('a saved test has the ending of its agent file, so that it is a module where that is one', () => {
  const names = ['./desk.mts', './desk.mjs', './desk.ts', './agent.js'].map((file) => testFileName('refund', file))
  expect(names).toEqual(['refund.test.mts', 'refund.test.mts', 'refund.test.ts', 'refund.test.ts'])
})

test('names and values in a saved call cannot add code to the test file', () => {
  const evil = `'); process.exit(9); ('\u202e\n*/`
  const args: unknown = JSON.parse('{"__proto__":{"a":1}}')
  const code = writeTest({ ...saved, tool: evil, agent: evil, file: evil, args: args as SavedCall['args'] })
  expect(code).not.toContain('\u202e')
  expect(code).toContain('JSON.parse(')
  // every occurrence is inside a string literal, with its quotation mark and newline escaped
  expect(code.split('process.exit(9)')).toHaveLength(code.split(`"'); process.exit(9)`).length)
  expect(testFileName(evil, evil)).toMatch(/^[\w-]+\.test\.ts$/)
})
