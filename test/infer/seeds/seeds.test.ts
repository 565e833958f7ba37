// The function tools in the documentation of three other kits, as plain functions: what they declare, and what their calls do.
import {
  type Completion,
  InMemoryArtifactService,
  LlmAgent,
  type OfferedTool,
  Runner,
  type ToolSource,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/base/json.ts'
import { DOCUMENTED } from './documented.ts'
import { loadTools } from './load-tools.ts'

const files = Object.keys(DOCUMENTED)
const tools = new Map<string, readonly ToolSource[]>()
for (const file of files) tools.set(file, await loadTools(file))

test.each(files)('the plain functions of %s declare what the documentation of the kit says', async (file) => {
  const model = scriptedModel(['Hello.'])
  const agent = new LlmAgent({ name: 'desk', model, tools: tools.get(file) })
  await new Runner({ appName: 'seeds', agent }).complete({ userId: 'ada', message: 'Hi' })
  const declared = [...(model.requests[0]?.tools.values() ?? [])].map(declarationOf)
  const expected = DOCUMENTED[file]?.map(([name, description, properties, required]) => ({
    name,
    description,
    // a function without arguments declares no schema
    ...(Object.keys(properties).length > 0 && {
      schema: { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false },
    }),
  }))
  expect(declared).toEqual(expected)
})

/** The declaration without the note that is added to every long-running tool. */
function declarationOf(tool: OfferedTool) {
  const { name, description, parametersJsonSchema: schema } = tool.declaration() ?? {}
  return { name, description: description?.split('\n\n')[0], schema }
}

/** Calls tools as a model does, in one reply. */
async function callTools(file: string, calls: readonly { name: string; args?: JsonObject }[]) {
  const model = scriptedModel([{ calls }, 'Done.'])
  const helper = new LlmAgent({ name: 'helper', model: scriptedModel(['Helping.']), description: 'Helps.' })
  const agent = new LlmAgent({ name: 'desk', model, tools: tools.get(file), subAgents: [helper] })
  const runner = new Runner({ appName: 'seeds', agent, artifactService: new InMemoryArtifactService() })
  const run = await runner.complete({ userId: 'ada', message: 'Go.' })
  return { ...run, ...answerOf(run) }
}

/** The responses of the tools, and what they wrote. */
function answerOf({ events }: Completion) {
  const answers = events.filter(({ content }) => content?.role === 'tool')
  const responses = answers.flatMap(({ content }) =>
    (content?.parts ?? []).flatMap(({ functionResponse }) => functionResponse?.response ?? []),
  )
  return { responses, actions: answers[0]?.actions }
}

describe('a plain function like a #[tool] of adk-rs', () => {
  const file = 'adk-rs.ts'

  test('saves and loads artifacts through its context', async () => {
    const saved = await callTools(file, [{ name: 'save_artifact', args: { filename: 'a.txt', text: 'Hello' } }])
    expect(saved.responses).toEqual([{ version: 0 }])
    expect(saved.actions?.artifactDelta).toEqual({ 'a.txt': 0 })
    const { responses } = await callTools(file, [{ name: 'load_artifact', args: { filename: 'none.txt' } }])
    expect(responses).toEqual([{ text: null }])
  })

  test('writes state, with the context between its arguments', async () => {
    const args = { key: 'user:seats', value: [1, 2] }
    const { responses, actions } = await callTools(file, [{ name: 'state_delta', args }])
    expect(responses).toEqual([{ call: expect.stringMatching(/^adk-/) }])
    expect(actions?.stateDelta).toEqual({ 'user:seats': [1, 2] })
  })

  test('transfers, escalates and ends the turn', async () => {
    expect((await callTools(file, [{ name: 'hand_over', args: { name: 'helper' } }])).text).toBe('Helping.')
    expect((await callTools(file, [{ name: 'escalate' }])).events.at(-1)?.actions).toEqual({ escalate: true })
    const ended = await callTools(file, [{ name: 'skip_summarization' }])
    expect(ended.responses).toEqual([{ answer: 'done' }])
    expect(ended.text).not.toBe('Done.') // the model is not asked again
  })

  test('marks its call as long-running, so that the run pauses', async () => {
    const { pending } = await callTools(file, [{ name: 'long_running' }])
    expect(pending).toMatchObject([{ kind: 'longRunning' }])
  })

  test('asks for confirmation of some arguments only, with a hint of its own', async () => {
    const free = await callTools(file, [{ name: 'drop_table', args: { table: 'scratch' } }])
    expect(free.responses).toEqual([{ dropped: 'scratch' }])
    const { pending, responses } = await callTools(file, [{ name: 'drop_table', args: { table: 'users' } }])
    expect(pending).toMatchObject([{ kind: 'confirmation', hint: 'Drop users?' }])
    expect(responses).toEqual([])
  })
})

describe('a plain function like a FunctionTool of google-adk', () => {
  const file = 'google-adk.ts'

  test('gets its arguments in order, and its context by type', async () => {
    const { responses, actions } = await callTools(file, [
      { name: 'add', args: { b: 3, a: 2 } },
      { name: 'list_files', args: { folder: 'docs' } },
      { name: 'research', args: { topic: 'fjords' } },
    ])
    expect(responses).toEqual([
      { result: 5 },
      { files: ['a.txt', 'b.txt'], count: 2 },
      { findings: 'All about fjords.' },
    ])
    expect(actions?.stateDelta).toEqual({ last_listed: 'docs' })
  })

  test('is not called without a mandatory argument, or with one of another type', async () => {
    const { responses } = await callTools(file, [
      { name: 'add', args: { a: 2 } },
      { name: 'add', args: { a: 2, b: 2.5 } },
      { name: 'list_files', args: { folder: 'docs', tool_context: {} } },
    ])
    expect(responses).toMatchObject([
      { errorCode: 'INVALID_ARGS' },
      { errorCode: 'INVALID_ARGS' },
      { errorCode: 'INVALID_ARGS' },
    ])
  })

  test('waits for confirmation always, or if a predicate says so', async () => {
    const { pending } = await callTools(file, [
      { name: 'confirmed_add', args: { a: 1, b: 2 } },
      { name: 'wipe_all', args: { scope: 'everything' } },
      { name: 'wipe_all', args: { scope: 'dry-run' } },
    ])
    expect(pending.map(({ kind }) => kind)).toEqual(['confirmation', 'confirmation'])
  })

  test('returns the handle of long-running work', async () => {
    const { pending } = await callTools(file, [{ name: 'kick_off_build', args: { project: 'site' } }])
    expect(pending).toMatchObject([{ kind: 'longRunning' }])
  })
})

describe('a plain function like a tool of gemini-adk-rs', () => {
  const file = 'gemini-adk-rs.ts'

  test('gets optional arguments, defaults and the values of its scope', async () => {
    const { responses } = await callTools(file, [
      { name: 'get_weather', args: { city: 'Oslo' } },
      { name: 'get_weather', args: { city: 'Oslo', units: 'imperial' } },
      { name: 'get_weather_simple', args: { city: 'Oslo' } },
      { name: 'get_weather_typed', args: { city: 'Oslo' } },
      { name: 'lookup_account', args: { account_id: 'acc-1' } },
    ])
    expect(responses).toEqual([
      { city: 'Oslo', temp_c: 22, units: 'metric' },
      { city: 'Oslo', temp_c: 22, units: 'imperial' },
      { city: 'Oslo', temperature_c: 22, condition: 'Partly cloudy' },
      { temp: 22, city: 'Oslo', units: 'celsius' },
      { account_id: 'acc-1', balance: 4250 },
    ])
  })

  test('streams results, and runs under policies', async () => {
    const { responses, pending } = await callTools(file, [
      { name: 'track_progress' },
      { name: 'search_kb', args: { query: 'plans' } },
      { name: 'get_rate', args: { currency: 'EUR' } },
    ])
    const steps = [0, 1, 2, 3, 4].map((step) => ({ step }))
    expect(responses).toEqual([{ results: steps }, { result: ['plans'] }, { currency: 'EUR', rate: 1.08 }])
    expect(pending).toEqual([])
    const gated = await callTools(file, [{ name: 'send_email', args: { to: 'ada' } }])
    expect(gated.pending).toMatchObject([{ hint: 'This will send a real email - are you sure?' }])
  })
})
