import { tool } from 'toolwright'
import { connectLive } from 'toolwright/live'
import { describe, expect, test } from 'vitest'
import {
  type LiveConnection,
  LiveConnectionError,
  type LiveConnectOptions,
  type LiveServerMessage,
} from '../../engine/model/live-model.ts'
import { scriptedLive } from './scripted-live.ts'
import type { ScriptedLiveScript } from './scripted-live-script.ts'

const request = (more: Partial<LiveConnectOptions> = {}): LiveConnectOptions => ({
  instruction: undefined,
  tools: [],
  signal: new AbortController().signal,
  ...more,
})

/** Reads messages up to the first one of a type. */
function reader(connection: LiveConnection) {
  const messages = connection[Symbol.asyncIterator]()
  return async (type: LiveServerMessage['type']): Promise<LiveServerMessage[]> => {
    const read: LiveServerMessage[] = []
    for (;;) {
      const next = await messages.next()
      if (next.done) throw new Error(`The connection ended before ${type}.`)
      if (next.value.type !== 'resumption') read.push(next.value)
      if (next.value.type === type) return read
    }
  }
}

async function connected(script: ScriptedLiveScript) {
  const model = scriptedLive(script)
  const connection = await model.connect(request())
  return { model, connection, peer: await model.nextConnection(), until: reader(connection) }
}

const text = (words: string) => ({ type: 'text', text: words }) as const
const done = (id: string, name: string, more: object = {}) => ({ id, name, response: { ok: true }, ...more })

describe('the steps of scriptedLive()', () => {
  test('answer text, contents that complete a turn, and the end of activity', async () => {
    const { model, connection, until } = await connected(['One.', 'Two.', 'Three.'])
    connection.send({ type: 'audio', data: Uint8Array.of(1), mimeType: 'audio/pcm' })
    connection.send({ type: 'activity', state: 'start' })
    connection.send({ type: 'content', contents: [], turnComplete: false })
    connection.send({ type: 'activity', state: 'end' })
    const one = { type: 'text', text: 'One.' }
    expect(await until('turnComplete')).toEqual([one, { type: 'generationComplete' }, { type: 'turnComplete' }])
    connection.send({ type: 'content', contents: [], turnComplete: true })
    expect((await until('turnComplete'))[0]).toEqual({ type: 'text', text: 'Two.' })
    expect(() => model.assertComplete()).toThrow('scriptedLive() has 1 unused steps of 3.')
    connection.send(text('Hi.'))
    expect((await until('turnComplete'))[0]).toEqual({ type: 'text', text: 'Three.' })
    model.assertComplete()
  })

  test('send audio, transcripts, other messages and goAway in order', async () => {
    const { connection, until } = await connected([
      {
        heard: 'Hi?',
        audio: Uint8Array.of(1, 2),
        transcript: 'Hello.',
        messages: [{ type: 'usage', usageMetadata: { totalTokenCount: 3 } }],
        goAway: 500,
        delayMs: 1,
      },
      { audio: { data: Uint8Array.of(3), mimeType: 'audio/pcmu' } },
    ])
    connection.send(text('Hi.'))
    expect(await until('turnComplete')).toEqual([
      { type: 'inputTranscript', text: 'Hi?', finished: true },
      { type: 'audio', data: Uint8Array.of(1, 2), mimeType: 'audio/pcm;rate=24000' },
      { type: 'outputTranscript', text: 'Hello.', finished: true },
      { type: 'usage', usageMetadata: { totalTokenCount: 3 } },
      { type: 'goAway', timeLeftMs: 500 },
      { type: 'generationComplete' },
      { type: 'turnComplete' },
    ])
    connection.send(text('Hi.'))
    expect((await until('audio'))[0]).toMatchObject({ mimeType: 'audio/pcmu' })
  })

  test('complete a turn once if their own messages complete it', async () => {
    const { connection, until } = await connected([
      { text: 'Stop', messages: [{ type: 'interrupted' }, { type: 'turnComplete' }] },
      'Next.',
    ])
    connection.send(text('One.'))
    connection.send(text('Two.'))
    expect((await until('turnComplete')).map(({ type }) => type)).toEqual(['text', 'interrupted', 'turnComplete'])
    expect((await until('turnComplete'))[0]).toEqual({ type: 'text', text: 'Next.' })
  })

  test('wait for the final responses of all calls before the turn continues', async () => {
    const { model, connection, until } = await connected([
      {
        calls: [
          { name: 'a', args: { x: 1 } },
          { name: 'b', id: 'own' },
        ],
      },
      (input) => `After ${input.type}.`,
      'Next turn.',
    ])
    connection.send(text('Go.'))
    expect(await until('toolCall')).toEqual([
      {
        type: 'toolCall',
        calls: [
          { id: 'call-1', name: 'a', args: { x: 1 } },
          { id: 'own', name: 'b', args: {} },
        ],
      },
    ])
    connection.send(text('Hurry.')) // waits for the calls
    connection.send({ type: 'toolResponses', responses: [done('own', 'b', { willContinue: true })] })
    connection.send({ type: 'toolResponses', responses: [done('call-1', 'a')] })
    connection.send({ type: 'toolResponses', responses: [{ name: 'b', response: {} }] })
    expect((await until('turnComplete'))[0]).toEqual({ type: 'text', text: 'After toolResponses.' })
    expect((await until('turnComplete'))[0]).toEqual({ type: 'text', text: 'Next turn.' })
    model.assertComplete()
  })

  test('go on with the next input after the model cancelled its calls', async () => {
    const { connection, peer, until } = await connected([{ calls: [{ name: 'a', id: 'x' }] }, 'Fine.'])
    connection.send(text('Go.'))
    await until('toolCall')
    connection.send(text('Never mind.'))
    peer.emit({ type: 'toolCancelled', ids: ['x'] })
    expect((await until('turnComplete')).map(({ type }) => type)).toEqual([
      'toolCancelled',
      'text',
      'generationComplete',
      'turnComplete',
    ])
  })

  test('report an input without a step, and assertComplete() names it', async () => {
    const { model, connection, until } = await connected([])
    connection.send(text('Hi.'))
    expect(await until('error')).toEqual([
      {
        type: 'error',
        message: 'scriptedLive() has no step for input 1 (text): the script has 0 steps. Add a step.',
        code: 'SCRIPT_OVER',
      },
    ])
    expect(() => model.assertComplete()).toThrow('scriptedLive() had no step for: text. Add steps.')
  })

  test('may be one function, which need not reply', async () => {
    const { connection, until } = await connected((input) =>
      input.type === 'text' && input.text !== 'ignore me' ? { text: `You said ${input.text}` } : undefined,
    )
    connection.send(text('ignore me'))
    connection.send(text('hello'))
    expect((await until('turnComplete'))[0]).toEqual({ type: 'text', text: 'You said hello' })
  })

  test('lose the connection if they throw', async () => {
    const { connection, until } = await connected(() => {
      throw new Error('broken script')
    })
    connection.send(text('Hi.'))
    await expect(until('turnComplete')).rejects.toMatchObject({
      recover: 'nothing',
      message: 'The script of scriptedLive() threw an error: broken script',
    })
  })

  test('are checked when the model is created', () => {
    expect(() => scriptedLive([{ txt: 'Hi.' } as object])).toThrow(/unknown option "txt". Did you mean "text"\?/)
    expect(() => scriptedLive([{ calls: [{ nam: 'x' } as never] }])).toThrow(/unknown option "nam"/)
    expect(() => scriptedLive('Hi.' as never)).toThrow('takes a list of steps or a function')
  })
})

describe('a connection of scriptedLive()', () => {
  test('records what the live session connects with and sends', async () => {
    const { model, connection, peer } = await connected(['Hi.'])
    const update = { type: 'update', instruction: 'Be brief.' } as const
    const waiting = peer.next('update')
    connection.send(text('One.'))
    connection.send(update)
    connection.send(text('Two.'))
    expect(await waiting).toBe(update)
    expect([await peer.next('text'), await peer.next('text')]).toEqual([text('One.'), text('Two.')])
    expect(peer.sent).toEqual([text('One.'), update, text('Two.')])
    expect(peer.options).toBe(model.requests[0])
    expect(model.connections).toEqual([peer])
  })

  test('sends what the test emits', async () => {
    const { peer, until } = await connected([])
    peer.emit({ type: 'text', text: 'I speak first.' }, { type: 'interrupted' })
    expect(await until('interrupted')).toEqual([{ type: 'text', text: 'I speak first.' }, { type: 'interrupted' }])
  })

  test('sends a handle after connect and after each turn', async () => {
    const model = scriptedLive(['One.'])
    const connection = await model.connect(request())
    connection.send(text('Hi.'))
    const seen: LiveServerMessage[] = []
    for await (const message of connection) {
      seen.push(message)
      if (seen.filter(({ type }) => type === 'resumption').length === 2) break
    }
    expect(seen.map((message) => (message.type === 'resumption' ? message.handle : message.type))).toEqual([
      'handle-1',
      'text',
      'generationComplete',
      'turnComplete',
      'handle-2',
    ])
  })

  test('sends no handle without resumption, and then asks for a fresh connection when it is lost', async () => {
    const model = scriptedLive([{ text: 'Half', drop: true }], { capabilities: { resumption: false } })
    expect(model.capabilities).toMatchObject({ resumption: false, updates: true, nonBlocking: true })
    const connection = await model.connect(request())
    connection.send(text('Hi.'))
    const seen: LiveServerMessage[] = []
    const reading = (async () => {
      for await (const message of connection) seen.push(message)
    })()
    await expect(reading).rejects.toMatchObject({ recover: 'fresh', code: 1006 })
    expect(seen).toEqual([{ type: 'text', text: 'Half' }])
    expect(() => connection.send(text('Hello?'))).toThrow('closed')
  })

  test('continues a resumed conversation with the responses to its calls', async () => {
    const model = scriptedLive([{ calls: [{ name: 'a', id: 'x' }], drop: true }, 'Resumed.'])
    const first = await model.connect(request())
    first.send(text('Go.'))
    await expect(reader(first)('turnComplete')).rejects.toMatchObject({ recover: 'resume' })
    const second = await model.connect(request({ resumeHandle: 'handle-1' }))
    second.send({ type: 'toolResponses', responses: [done('x', 'a')] })
    expect((await reader(second)('turnComplete'))[0]).toEqual({ type: 'text', text: 'Resumed.' })
    model.assertComplete()
  })

  test('forgets the calls of a conversation that is not resumed', async () => {
    const model = scriptedLive([{ calls: [{ name: 'a', id: 'x' }], drop: true }, 'Fresh.'])
    const first = await model.connect(request())
    first.send(text('Go.'))
    await expect(reader(first)('turnComplete')).rejects.toThrow()
    const second = await model.connect(request())
    second.send({ type: 'toolResponses', responses: [done('x', 'a')] })
    second.send(text('Again.'))
    expect((await reader(second)('turnComplete'))[0]).toEqual({ type: 'text', text: 'Fresh.' })
  })

  test('is lost with the error of the test', async () => {
    const { peer, until } = await connected([])
    const error = new LiveConnectionError('Quota.', { recover: 'nothing' })
    peer.lose(error)
    await expect(until('turnComplete')).rejects.toBe(error)
    await expect(peer.next('text')).rejects.toThrow('ended before message 1 of type text')
  })

  test('ends its iteration when the live session closes it', async () => {
    const { connection, peer, until } = await connected([])
    const reading = until('turnComplete')
    connection.close()
    peer.emit({ type: 'turnComplete' })
    await expect(reading).rejects.toThrow('The connection ended before turnComplete.')
    expect(peer.isClosed).toBe(true)
    expect(() => connection[Symbol.asyncIterator]()).toThrow('can be iterated once')
  })
})

describe('an attempt to connect to scriptedLive()', () => {
  test('fails as often as the options say', async () => {
    const model = scriptedLive(['Hi.'], { failConnects: 2, name: 'shaky' })
    await expect(model.connect(request())).rejects.toMatchObject({ recover: 'fresh' })
    await expect(model.connect(request())).rejects.toBeInstanceOf(LiveConnectionError)
    await model.connect(request({ instruction: 'third' }))
    expect(model.requests.map(({ instruction }) => instruction)).toEqual([undefined, undefined, 'third'])
    expect(model.connections).toHaveLength(1)
    expect(model.name).toBe('shaky')
  })

  test('always fails with connectError alone', async () => {
    const connectError = new LiveConnectionError('Wrong key.', { recover: 'nothing', code: 401 })
    const model = scriptedLive([], { connectError })
    await expect(model.connect(request())).rejects.toBe(connectError)
    await expect(model.connect(request())).rejects.toBe(connectError)
  })

  test('fails for an aborted signal', async () => {
    const model = scriptedLive([])
    await expect(model.connect(request({ signal: AbortSignal.abort() }))).rejects.toThrow('aborted')
    expect(model.connections).toHaveLength(0)
  })
})

test('takes results of calls as a message on a resumed connection', async () => {
  const model = scriptedLive([{ calls: [{ name: 'charge' }], drop: true }, 'Charged.'])
  const charge = tool({ name: 'charge', description: 'Charges', run: () => ({ ok: true }) })
  const session = await connectLive({ model, tools: [charge], reconnect: { delayMs: 1 } })
  await session.send('Charge.')
  const seen: string[] = []
  for await (const event of session) {
    if (event.type === 'text') seen.push(event.text)
    if (event.type === 'turnComplete') break
  }
  expect(seen).toEqual(['Charged.'])
})
