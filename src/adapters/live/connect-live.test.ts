import { LlmAgent, Runner, tool } from 'toolwright'
import { scriptedLive, scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { connectLive } from './connect-live.ts'
import type { LiveOptions } from './live-options.ts'
import type { LiveSession } from './session/live-session.ts'

const search = tool({ name: 'search', description: 'Search', run: () => ({ hits: 3 }) })

const connect = (options: object = {}): Promise<LiveSession> =>
  connectLive({ tools: [search], model: scriptedLive([]), ...options } as LiveOptions<LiveSession>)

describe('connectLive() refuses', () => {
  test.each([
    ['the name of a model', { model: 'gemini-2.5-flash' }, 'model must be a live model, such as geminiLive(name)'],
    ['a text model', { model: scriptedModel([]) }, 'model must be a live model, such as geminiLive(name)'],
    [
      'a text model, and says where it goes',
      { model: scriptedModel([]) },
      'pass it as textModel. In a test, use scriptedLive()',
    ],
    ['a live model as textModel', { textModel: scriptedLive([]) }, 'textModel must be a model, such as gemini(name)'],
    ['an AbortController as signal', { signal: new AbortController() }, 'signal must be an AbortSignal'],
    ['an object as agent', { tools: undefined, agent: { name: 'a' } }, 'agent must be an agent, such as new LlmAgent('],
    ['an agent beside tools', { agent: new LlmAgent({ name: 'a' }) }, 'got both agent and tools. Pass one of them'],
    ['a list of background tools', { background: ['search'] }, 'such as { search: true }, got a list'],
    [
      'false for a background tool',
      { background: { search: false } },
      'must be true or an object with options, got false',
    ],
    ['false for reconnect', { reconnect: false }, 'such as { attempts: 0 } for no reconnects, got false'],
    [
      'a misspelled option',
      { systemInstruction: 'x' },
      'unknown option "systemInstruction". Did you mean "instruction"?',
    ],
  ])('%s', async (_what, options, message) => {
    await expect(connect(options)).rejects.toThrow(message)
  })
})

describe('a live session refuses', () => {
  test.each([
    ['samples that are not bytes', { audio: new Int16Array(2) }, '{ audio } with Int16Array (pass new Uint8Array('],
    ['an ArrayBuffer', { audio: new ArrayBuffer(2) }, 'pass new Uint8Array(it)'],
    ['base64', { video: 'AAAA' }, '{ video } with a string instead of a Uint8Array'],
    ['content of the model', { content: { role: 'model', parts: [] } }, "is not { role: 'user', parts }"],
    ['an unknown member', { data: new Uint8Array(2) }, 'got an object with the key data'],
  ])('to send %s', async (_what, message, error) => {
    await using session = await connect()
    await expect(session.send(message as never)).rejects.toThrow(error)
  })

  test.each([
    ['a text', [{ text: 'yes' }], 'got an object with the key text'],
    ['the request itself', [{ id: 'r1', kind: 'confirmation' }], 'got an object with the keys id, kind'],
    ['nothing', [], 'got nothing'],
  ])('%s as an answer', async (_what, answers, error) => {
    await using session = await connect()
    const takes = 'answer() takes approve(request), deny(request) or respond(request, value)'
    await expect(session.answer(...(answers as never[]))).rejects.toThrow(`${takes}, ${error}`)
  })

  test('one id instead of a list of calls to cancel', async () => {
    await using session = await connect()
    await expect(session.cancelCalls('c1' as never)).rejects.toThrow(
      'cancelCalls() takes a list of call ids, got a string',
    )
  })

  test('to enter a phase without phases', async () => {
    await using session = await connect()
    await expect(session.enterPhase('pay')).rejects.toThrow('the session has no phases. Pass phases to connectLive().')
  })

  test('to enter a phase after it was closed', async () => {
    const session = await connect({ phases: [{ name: 'pay', instruction: 'Pay.' }], initialPhase: 'pay' })
    await session.close()
    await expect(session.enterPhase('pay')).rejects.toThrow('The live session is closed. Connect a new one.')
  })
})

test('an onToolCall that returns one response instead of a list is reported', async () => {
  const onToolCall = (): unknown => ({ name: 'search', response: { error: 'Not allowed.' } })
  const model = scriptedLive([{ calls: [{ name: 'search' }] }, 'There are three.'])
  const session = await connect({ model, onToolCall })
  await session.send('Search.')
  const problems: string[] = []
  for await (const event of session) {
    if (event.type === 'error') problems.push(`${event.errorCode}: ${event.message}`)
    if (event.type === 'turnComplete') break
  }
  expect(problems).toEqual([
    expect.stringMatching(/^HOOK_FAILED: onToolCall failed, .* Return a list of \{ name, response \}, or undefined$/),
  ])
})

test('a session without attempts left shows an error with the next step', async () => {
  const model = scriptedLive([])
  const session = await connect({ model, reconnect: { attempts: 0 } })
  const connection = await model.nextConnection()
  connection.lose()
  const messages: string[] = []
  for await (const event of session) if (event.type === 'error') messages.push(event.message)
  expect(messages).toEqual([expect.stringContaining('All attempts to reconnect are used up. Connect a new session.')])
})

test('a computed value that fails when a live session starts is reported, and the session goes on', async () => {
  const boom = (): never => {
    throw new Error('boom')
  }
  const logger = { warn: () => {}, error: () => {} }
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel([]) })
  const runner = new Runner({ appName: 'shop', agent, logger })
  const computed = [{ key: 'total', from: ['items'], compute: boom }]
  await using session = await connectLive({ runner, model: scriptedLive([]), computed })
  for await (const event of session) {
    expect(event).toMatchObject({
      type: 'error',
      errorCode: 'HOOK_FAILED',
      message: expect.stringContaining('"total"'),
    })
    break
  }
})
