import { expect, test } from 'vitest'
import type { Ports } from '../../../core/base/ports.ts'
import { LiveConnectionError, type LiveServerMessage } from '../../../engine/model/live-model.ts'
import { geminiLiveServer } from '../../testing/gemini-live-server.ts'
import { KEY } from '../gemini.test-kit.ts'
import { dial, openLine, readEnd, VERTEX } from './live.test-kit.ts'

test('messages that arrived before the iteration are kept in order', async () => {
  await using line = await openLine()
  for (let at = 0; at < 50; at++) line.remote.say(`${at}`)
  line.local.send({ type: 'text', text: 'ping' })
  await line.remote.next('realtimeInput')
  const messages = await line.read(50)
  expect(messages).toEqual(Array.from({ length: 50 }, (_, at) => ({ type: 'text', text: `${at}` })))
})

test('text and binary frames stay in order', async () => {
  await using line = await openLine({ options: VERTEX })
  for (let at = 0; at < 20; at++) {
    const message = { serverContent: { modelTurn: { parts: [{ text: `${at}` }] } } }
    line.remote.send(at % 2 ? message : new TextEncoder().encode(JSON.stringify(message)))
  }
  const texts = (await line.read(20)).map((message) => message.type === 'text' && message.text)
  expect(texts).toEqual(Array.from({ length: 20 }, (_, at) => `${at}`))
})

test.each<[string, string | Uint8Array]>([
  ['invalid JSON', '{ "serverContent": '],
  ['an empty frame', ''],
  ['a list', '[1]'],
  ['null', 'null'],
  ['bytes that are no text', new Uint8Array([0xff, 0xfe, 0x00])],
])('a frame with %s is reported, and the connection stays open', async (_, frame) => {
  await using line = await openLine()
  line.remote.send(frame)
  line.remote.say('still here')
  expect(await line.read(2)).toEqual([
    { type: 'error', message: 'Model "gemini-2.5-flash-live" sent a malformed frame. The frame is skipped.' },
    { type: 'text', text: 'still here' },
  ])
})

test('members that cannot be converted to text are reported, and the connection stays open', async () => {
  await using line = await openLine()
  line.remote.send({ goAway: { timeLeft: { toString: 1 } } })
  line.remote.say('still here')
  expect((await line.read(2)).map(({ type }) => type)).toEqual(['error', 'text'])
})

test('an error message of the service does not contain the key', async () => {
  const apiKey = 'my-own-proxy-credential'
  await using line = await openLine({ options: { apiKey } })
  line.remote.send({ error: { message: `Quota of ${apiKey} is used up.` } })
  expect(await line.read(1)).toEqual([{ type: 'error', message: 'Quota of [hidden] is used up.' }])
})

test.each<[number, string, string]>([
  [1008, 'Policy violation.', 'nothing'],
  [1008, 'The operation was aborted.', 'resume'],
  [1007, 'Request contains an invalid argument.', 'nothing'],
  [1011, 'Deadline expired before operation could complete.', 'resume'],
  [1001, '', 'resume'],
  [1012, '', 'resume'],
  [1013, '', 'resume'],
  [1000, '', 'resume'],
])('a connection closed with %i %j is lost, with recover %j, after its last message', async (code, reason, recover) => {
  await using line = await openLine()
  line.remote.say('bye')
  line.remote.close(code, reason)
  const messages: LiveServerMessage[] = []
  const reading = (async () => {
    for await (const message of line.local) messages.push(message)
  })()
  await expect(reading).rejects.toMatchObject({ name: 'LiveConnectionError', code, recover })
  await expect(reading).rejects.toThrow('The live connection to model "gemini-2.5-flash-live" was lost: close code')
  expect(messages).toEqual([{ type: 'text', text: 'bye' }])
})

test('a resumed connection closed with 1007 asks for a fresh connection', async () => {
  await using line = await openLine({ resumeHandle: 'h1' })
  line.remote.close(1007, 'Request contains an invalid argument.')
  expect(await readEnd(line.local)).toMatchObject({ code: 1007, recover: 'fresh' })
})

test('a dropped socket is lost with code 1006, and sending throws the same error', async () => {
  await using line = await openLine()
  line.remote.drop()
  const error = await readEnd(line.local)
  expect(error).toBeInstanceOf(LiveConnectionError)
  expect(error).toMatchObject({ code: 1006, recover: 'resume' })
  expect(() => line.local.send({ type: 'text', text: 'x' })).toThrow(error as Error)
})

test('a loss is delivered to an iteration that starts later', async () => {
  await using line = await openLine()
  line.remote.say('bye')
  const pinged = line.remote.next('realtimeInput')
  line.local.send({ type: 'text', text: 'ping' })
  await pinged
  line.remote.close(1011)
  await expect(line.remote.next('never')).rejects.toThrow('1011')
  expect(await line.read(1)).toEqual([{ type: 'text', text: 'bye' }])
  await expect(line.read(1)).rejects.toMatchObject({ code: 1011 })
})

test('close() ends the iteration quietly and closes the socket', async () => {
  await using line = await openLine()
  const end = readEnd(line.local)
  line.local.close()
  line.local.close()
  expect(await end).toBe('closed')
  await expect(line.remote.next('never')).rejects.toThrow('code 1005')
  expect(() => line.local.send({ type: 'text', text: 'x' })).toThrow(
    'The live connection to model "gemini-2.5-flash-live" is closed.',
  )
})

test('leaving the iteration closes the connection', async () => {
  await using line = await openLine()
  line.remote.say('one')
  line.remote.say('two')
  for await (const message of line.local) {
    expect(message).toEqual({ type: 'text', text: 'one' })
    break
  }
  await expect(line.remote.next('never')).rejects.toThrow('code 1005')
})

test('a connection is iterated once', async () => {
  await using line = await openLine()
  line.local[Symbol.asyncIterator]()
  expect(() => line.local[Symbol.asyncIterator]()).toThrow('is already iterated')
})

test('a paused connection receives nothing until it is resumed', async () => {
  await using line = await openLine()
  line.remote.say('before')
  await line.read(1)
  line.local.pause?.()
  line.remote.say('after')
  let isRead = false
  const reading = line.read(1).then((messages) => {
    isRead = true
    return messages
  })
  // the text arrives with the next packet; a message to the server and its answer take longer
  for (let at = 0; at < 5; at++) {
    line.local.send({ type: 'text', text: 'ping' })
    await line.remote.next('realtimeInput')
  }
  expect(isRead).toBe(false)
  line.local.resume?.()
  expect(await reading).toEqual([{ type: 'text', text: 'after' }])
})

/** A timer that a test fires itself. `cancelled` resolves when the timer of `close()` is cancelled: the socket is closed. */
function closeTimer(): { ports: Pick<Ports, 'setTimer'>; fire(): void; cancelled: Promise<void> } {
  const cancelled = Promise.withResolvers<void>()
  let latest: (() => void) | undefined
  const setTimer: Ports['setTimer'] = (callback, _, options) => {
    latest = callback
    return () => options?.background && cancelled.resolve()
  }
  return { ports: { setTimer }, fire: () => latest?.(), cancelled: cancelled.promise }
}

test('a paused connection can be closed', async () => {
  const { ports, cancelled } = closeTimer()
  await using line = await openLine({ options: { ports } })
  line.local.pause?.()
  line.local.close()
  await cancelled
  expect(await readEnd(line.local)).toBe('closed')
})

test('a service that does not answer the close frame is disconnected', async () => {
  const { ports, fire, cancelled } = closeTimer()
  await using line = await openLine({ options: { ports } })
  line.remote.stopReading()
  line.local.close()
  fire()
  await cancelled
  expect(await readEnd(line.local)).toBe('closed')
})

test('send() returns a promise while the service does not read, until everything is sent', async () => {
  await using line = await openLine()
  line.remote.stopReading()
  const frame = { type: 'video', data: new Uint8Array(256 * 1024), mimeType: 'image/jpeg' } as const
  let pending: Promise<void> | undefined
  let sent = 0
  for (; !pending && sent < 200; sent++) pending = line.local.send(frame)
  expect(pending).toBeInstanceOf(Promise)
  expect(line.local.send(frame)).toBe(pending)
  line.remote.resumeReading()
  await pending
  for (let at = 0; at < sent + 1; at++) await line.remote.next('realtimeInput')
  expect(line.local.send({ type: 'text', text: 'done' })).toBeUndefined()
})

test('a send() that waits ends when the connection is closed or lost', async () => {
  for (const isLost of [true, false]) {
    await using line = await openLine()
    line.remote.stopReading()
    const frame = { type: 'video', data: new Uint8Array(512 * 1024), mimeType: 'image/jpeg' } as const
    let pending: Promise<void> | undefined
    for (let at = 0; !pending && at < 100; at++) pending = line.local.send(frame)
    if (isLost) line.remote.drop()
    else line.local.close()
    expect(await pending).toBeUndefined()
  }
})

test('a client whose connect() is wrapped still sends and receives', async () => {
  const { GoogleGenAI } = await import('@google/genai')
  await using server = await geminiLiveServer({ sendHandles: false })
  const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: server.url } })
  client.live.connect = client.live.connect.bind(client.live) // as tracing libraries do
  const connection = await dial(server, { options: { client } })
  const remote = await server.nextConnection()
  remote.say('Hello')
  connection.send({ type: 'text', text: 'Hi' })
  expect(await remote.next('realtimeInput')).toEqual({ realtimeInput: { text: 'Hi' } })
  remote.close(1011)
  const messages: LiveServerMessage[] = []
  const reading = (async () => {
    for await (const message of connection) messages.push(message)
  })()
  await expect(reading).rejects.toMatchObject({ code: 1011 })
  expect(messages).toEqual([{ type: 'text', text: 'Hello' }])
})

test('ping() settles when the service answers, and not while it reads nothing', async () => {
  await using line = await openLine()
  await line.local.ping?.()
  line.remote.stopReading()
  let isAnswered = false
  const asked = line.local.ping?.()?.then(() => {
    isAnswered = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isAnswered).toBe(false)
  line.remote.resumeReading()
  await asked
  expect(line.server.problems).toEqual([])
})
