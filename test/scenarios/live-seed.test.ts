// The programs of the gemini-adk-rs tool chapter, in its order, as they are written here.
import {
  agentTool,
  type BackgroundResult,
  background,
  cached,
  codeExecution,
  confirm,
  type FunctionCall,
  googleSearch,
  LlmAgent,
  longRunning,
  Runner,
  StaticToolset,
  type Tool,
  ToolDispatcher,
  ToolError,
  timeout,
  tool,
  urlContext,
} from 'toolwright'
import { isTrue } from 'toolwright/live'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { responseIn, startLive } from './live-kit.ts'

const city = { type: 'object', properties: { city: { type: 'string', description: 'City name' } }, required: ['city'] }

const simple = tool({
  name: 'get_weather',
  description: 'Get current weather for a city',
  parameters: city,
  run: async (args) => ({ city: (args as { city: string }).city, temperature_c: 22, condition: 'Partly cloudy' }),
})

const typed = tool({
  name: 'get_weather',
  description: 'Get current weather for a city',
  parameters: z.object({
    city: z.string().describe('The city to get weather for'),
    units: z.string().default('celsius').describe('Temperature units (celsius or fahrenheit)'),
  }),
  run: async (args) => ({ temp: 22, city: args.city, units: args.units }),
})

/** Sends one call to a session with these tools and returns the first response. */
async function answer(
  tools: Parameters<typeof startLive>[0],
  name: string,
  args = {},
): Promise<ReturnType<typeof responseIn>> {
  const { connection } = await startLive(tools)
  connection.call([{ id: 'c1', name, args }])
  return responseIn(await connection.next('toolResponse'))
}

test('SimpleTool: a tool with a plain JSON schema is declared and called', async () => {
  const { connection } = await startLive({ tools: [simple] })
  expect(JSON.stringify(connection.setup?.tools)).toContain('"City name"')
  connection.call([{ id: 'c1', name: 'get_weather', args: { city: 'Oslo' } }])
  const { response } = responseIn(await connection.next('toolResponse'))
  expect(response).toEqual({ city: 'Oslo', temperature_c: 22, condition: 'Partly cloudy' })
})

test('TypedTool: defaults are filled in, and invalid arguments are INVALID_ARGS', async () => {
  expect((await answer({ tools: [typed] }, 'get_weather', { city: 'Oslo' })).response).toEqual({
    temp: 22,
    city: 'Oslo',
    units: 'celsius',
  })
  const { response } = await answer({ tools: [typed] }, 'get_weather', {})
  expect(response).toMatchObject({ errorCode: 'INVALID_ARGS', error: expect.stringContaining('city') })
})

test('ToolFunction: a class with private state is a tool', async () => {
  class DatabaseLookup implements Tool {
    readonly name = 'lookup_account'
    readonly description = 'Look up an account by ID'
    readonly #balances = new Map([['7', 4250]])
    declaration(): ReturnType<Tool['declaration']> {
      const { name, description } = this
      const properties = { account_id: { type: 'string' } }
      return { name, description, parametersJsonSchema: { type: 'object', properties, required: ['account_id'] } }
    }
    run(args: { account_id: string }): unknown {
      return { account_id: args.account_id, balance: this.#balances.get(args.account_id) }
    }
  }
  const { response } = await answer({ tools: [new DatabaseLookup()] }, 'lookup_account', { account_id: '7' })
  expect(response).toEqual({ account_id: '7', balance: 4250 })
})

test('StreamingTool: five steps are five events and one response', async () => {
  const track = tool({
    name: 'track_progress',
    description: 'Track a long-running operation',
    run: async function* () {
      for (let step = 0; step < 5; step++) yield { step }
    },
  })
  const { connection, event } = await startLive({ tools: [track] })
  connection.call([{ id: 'c1', name: 'track_progress', args: {} }])
  const steps = []
  for (let step = 0; step < 5; step++) steps.push((await event('toolProgress')).value)
  expect(steps).toEqual([{ step: 0 }, { step: 1 }, { step: 2 }, { step: 3 }, { step: 4 }])
  expect(responseIn(await connection.next('toolResponse')).response).toEqual({ results: steps })
})

test('InputStreamingTool: a tool hears the user while it runs', async () => {
  const listen = tool({
    name: 'listen',
    description: 'Listens until the user says stop',
    run: async (_, context) => {
      const input = context.liveInput ?? []
      context.progress('listening')
      let bytes = 0
      for await (const heard of input) {
        if (heard.type === 'audio') bytes += heard.data.byteLength
        if (heard.type === 'text' && heard.text === 'stop') return { bytes }
      }
      return { bytes: -1 }
    },
  })
  const { session, connection, event } = await startLive({ tools: [listen] })
  connection.call([{ id: 'c1', name: 'listen', args: {} }])
  await event('toolProgress')
  await session.send({ audio: new Uint8Array(320) })
  await session.send({ audio: new Uint8Array(320) })
  await session.send('stop')
  expect(responseIn(await connection.next('toolResponse')).response).toEqual({ bytes: 640 })
})

test('built-in tools are entries of the setup and run on the server', async () => {
  const { connection } = await startLive({ tools: [googleSearch(), codeExecution(), urlContext(), simple] })
  expect(connection.setup?.tools).toMatchObject([
    { functionDeclarations: [{ name: 'get_weather' }] },
    { googleSearch: {} },
    { codeExecution: {} },
    { urlContext: {} },
  ])
})

test('per-tool policies: timeout, cached and confirm', async () => {
  let rates = 0
  let sent = 0
  const search = tool({ name: 'search_kb', description: 'Search', effect: 'none', run: () => new Promise(() => {}) })
  const rate = tool({ name: 'get_rate', description: 'Get exchange rate', run: () => ({ rate: ++rates }) })
  const email = tool({ name: 'send_email', description: 'Send email', run: () => ({ sent: ++sent }) })
  const tools = [timeout(search, 20), cached(rate), confirm(email, 'This will send a real email. Are you sure?')]
  const asked: (string | undefined)[] = []
  const { connection } = await startLive({
    tools,
    confirmationProvider: async ({ hint }) => {
      asked.push(hint)
      return { confirmed: false, hint: 'not now' }
    },
  })
  connection.call([{ id: 'a', name: 'search_kb', args: {} }])
  expect(responseIn(await connection.next('toolResponse')).response).toMatchObject({ errorCode: 'TIMEOUT' })
  for (const id of ['b', 'c']) {
    connection.call([{ id, name: 'get_rate', args: {} }])
    expect(responseIn(await connection.next('toolResponse')).response).toEqual({ rate: 1 })
  }
  connection.call([{ id: 'd', name: 'send_email', args: {} }])
  await connection.next('toolResponse') // the call waits for a person
  const denied = responseIn(await connection.next('toolResponse'))
  expect(denied.response).toMatchObject({ errorCode: 'CANCELLED', error: expect.stringContaining('not now') })
  expect([asked, sent]).toEqual([['This will send a real email. Are you sure?'], 0])
})

test('agent as tool: a text agent shares the state of the voice session, both ways', async () => {
  const check = tool({
    name: 'check',
    description: 'Checks the caller',
    run: (_, { state }) => {
      state.set('identity_verified', state.get('caller') === 'Ada')
      return {}
    },
  })
  const textModel = scriptedModel([{ calls: [{ name: 'check' }] }, 'Verified.'])
  const verifier = new LlmAgent({ name: 'verify_identity', description: 'Verify caller', tools: [check] })
  const { connection, session } = await startLive({ tools: [agentTool(verifier)], textModel, state: { caller: 'Ada' } })
  connection.call([{ id: 'c1', name: 'verify_identity', args: { request: 'Who is it?' } }])
  expect(responseIn(await connection.next('toolResponse')).response).toEqual({ text: 'Verified.' })
  expect(session.state.get('identity_verified')).toBe(true)
})

test('tool registration: a dispatcher, a list and a toolset', async () => {
  const calculate = tool({ name: 'calculate', description: 'Evaluate expression', run: () => ({ result: 42 }) })
  const dispatcher = new ToolDispatcher().register(calculate)
  expect((await answer({ tools: [dispatcher] }, 'calculate')).response).toEqual({ result: 42 })
  expect((await answer({ tools: [[simple], new StaticToolset([calculate])] }, 'calculate')).response).toEqual({
    result: 42,
  })
})

test('tool call handling: onToolCall answers and promotes results to state', async () => {
  const { connection, session } = await startLive({
    tools: [simple],
    onToolCall: ({ calls, state }) =>
      calls.flatMap(({ id, name }) => {
        if (name !== 'verify_identity') return []
        state.set('identity_verified', true)
        return [{ id: id as string, name, response: { verified: true } }]
      }),
  })
  connection.call([{ id: 'c1', name: 'verify_identity', args: {} }])
  expect(responseIn(await connection.next('toolResponse')).response).toEqual({ verified: true })
  expect(session.state.get('identity_verified')).toBe(true)
})

test('phase-scoped tools: a call outside its phase is refused, and state moves the conversation on', async () => {
  const verify = tool({
    name: 'verify_identity',
    description: 'Verify',
    run: (_, { state }) => {
      state.set('identity_verified', true)
      return { verified: true }
    },
  })
  const plan = tool({ name: 'calculate_payment_plan', description: 'Plan', run: () => ({ months: 6 }) })
  const { connection, event } = await startLive({
    tools: [verify, plan],
    initialPhase: 'verify_identity',
    phases: [
      {
        name: 'verify_identity',
        instruction: "Verify the caller's identity",
        tools: ['verify_identity'],
        transitions: [{ to: 'negotiate', when: isTrue('identity_verified') }],
      },
      { name: 'negotiate', instruction: 'Negotiate a payment plan', tools: ['calculate_payment_plan'] },
    ],
  })
  connection.call([{ id: 'a', name: 'calculate_payment_plan', args: {} }])
  expect(responseIn(await connection.next('toolResponse')).response).toEqual({
    error: "Tool 'calculate_payment_plan' is not available in the current conversation phase.",
  })
  connection.call([{ id: 'b', name: 'verify_identity', args: {} }])
  await connection.next('toolResponse')
  expect(await event('phase')).toMatchObject({ from: 'verify_identity', to: 'negotiate' })
  connection.call([{ id: 'c', name: 'calculate_payment_plan', args: {} }])
  expect(responseIn(await connection.next('toolResponse')).response).toEqual({ months: 6 })
})

test('long-running tools tell the model not to call them again', async () => {
  const slow = longRunning(tool({ name: 'slow', description: 'Slow', run: () => ({ status: 'pending' }) }))
  const { connection } = await startLive({ tools: [slow] })
  expect(JSON.stringify(connection.setup?.tools)).toContain('do not call the tool again')
})

test('the dispatcher has custom timeouts, cancellation and a default', async () => {
  const slow = tool({
    name: 'slow_tool',
    description: 'Slow',
    effect: 'none',
    run: (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  })
  const dispatcher = new ToolDispatcher({ timeoutMs: 15 }).register(slow)
  await expect(dispatcher.call('slow_tool', {}, { timeoutMs: 30 })).rejects.toThrow('timed out after 30ms')
  await expect(dispatcher.call('slow_tool')).rejects.toThrow('timed out after 15ms')
  const controller = new AbortController()
  const calling = dispatcher.call('slow_tool', {}, { signal: controller.signal, timeoutMs: 60_000 })
  setImmediate(() => controller.abort())
  await expect(calling).rejects.toBeInstanceOf(ToolError)
})

test('background tools with a custom formatter', async () => {
  const formatter = {
    formatRunning: ({ args }: FunctionCall) => ({ status: 'searching', query: args.query }),
    formatResult: ({ name }: FunctionCall, { result, error }: BackgroundResult) =>
      error === undefined ? { status: 'done', tool: name, result } : { status: 'error', tool: name, error },
    formatCancelled: (callId: string) => ({ status: 'cancelled', call_id: callId }),
  }
  const search = tool({
    name: 'search_knowledge_base',
    description: 'Search',
    parameters: { type: 'object', properties: { query: { type: 'string' } } },
    run: async () => ({ hits: 3 }),
  })
  const { connection } = await startLive({ tools: [background(search, { formatter, scheduling: 'WHEN_IDLE' })] })
  connection.call([{ id: 'c1', name: 'search_knowledge_base', args: { query: 'rent' } }])
  expect(responseIn(await connection.next('toolResponse'))).toMatchObject({
    response: { status: 'searching', query: 'rent' },
    willContinue: true,
    scheduling: 'SILENT',
  })
  expect(responseIn(await connection.next('toolResponse'))).toMatchObject({
    response: { status: 'done', tool: 'search_knowledge_base', result: { hits: 3 } },
    scheduling: 'WHEN_IDLE',
  })
})

test('intercepting tool responses: redact, promote and record what the model gets', async () => {
  const lookup = tool({ name: 'lookup_account', description: 'Look up', run: () => ({ iban: 'DE89', balance: 5 }) })
  const runner = new Runner({
    appName: 'desk',
    agent: new LlmAgent({ name: 'desk', model: scriptedModel([]), tools: [lookup] }),
  })
  const { connection, session } = await startLive({
    runner,
    beforeToolResponse: ({ responses, state }) =>
      responses.map((one) => {
        state.set('looked_up', true)
        return { ...one, response: { ...one.response, iban: '***' } }
      }),
  })
  connection.call([{ id: 'c1', name: 'lookup_account', args: {} }])
  expect(responseIn(await connection.next('toolResponse')).response).toEqual({ iban: '***', balance: 5 })
  const { sessionId, userId } = session
  const stored = await runner.sessionService.getSession({ appName: 'desk', userId, sessionId })
  expect(JSON.stringify(stored?.events)).not.toContain('DE89')
  expect(stored?.state).toEqual({ looked_up: true })
})
