import { expect, test } from 'vitest'
import { connectOptions, KEY } from './openai.test-kit.ts'
import { openaiRealtime } from './openai-realtime.ts'
import type { OpenAiWebSocket, WebSocketConstructor } from './options.ts'

/** A WebSocket without a network. */
class MemorySocket implements OpenAiWebSocket {
  static last: MemorySocket
  readyState = 1
  bufferedAmount = 0
  readonly sent: string[] = []
  readonly #listeners = new Map<string, (event: unknown) => void>()

  constructor() {
    MemorySocket.last = this
  }
  send(data: string): void {
    this.sent.push(data)
  }
  close(): void {
    this.readyState = 3
    throw new Error('A socket that throws when it is closed.')
  }
  addEventListener(type: string, listener: (event: unknown) => void): void {
    this.#listeners.set(type, listener)
  }
  fire(type: string, event: unknown = {}): void {
    this.#listeners.get(type)?.(event)
  }
}

const timers: (() => void)[] = []
const model = openaiRealtime('gpt-realtime', {
  apiKey: KEY,
  webSocket: MemorySocket satisfies WebSocketConstructor,
  ports: {
    setTimer: (callback) => {
      timers.push(callback)
      return () => undefined
    },
  },
})

async function connected() {
  const connecting = model.connect(connectOptions())
  const socket = MemorySocket.last
  socket.fire('open')
  socket.fire('message', { data: JSON.stringify({ type: 'session.updated', session: {} }) })
  return { connection: await connecting, socket }
}

test('returns a promise from send while the socket is behind', async () => {
  const { connection, socket } = await connected()
  const audio = { type: 'audio', data: Uint8Array.of(1, 2), mimeType: 'audio/pcm' } as const
  expect(connection.send(audio)).toBeUndefined()
  socket.bufferedAmount = 5_000_000
  const waiting = connection.send(audio)
  expect(waiting).toBeInstanceOf(Promise)
  timers.at(-1)?.() // still behind: another check is set
  await Promise.resolve()
  socket.bufferedAmount = 0
  await Promise.resolve()
  timers.at(-1)?.()
  await waiting
  expect(connection.send(audio)).toBeUndefined()
})

test('ends the wait of a sender when the connection is closed', async () => {
  const { connection, socket } = await connected()
  socket.bufferedAmount = 5_000_000
  const waiting = connection.send({ type: 'text', text: 'Hi.' })
  connection.close()
  timers.at(-1)?.()
  await waiting
  expect(() => connection.send({ type: 'text', text: 'Hi.' })).toThrow('is closed')
})

test('asks no network for the status of a handshake that a custom WebSocket has failed', async () => {
  const connecting = model.connect(connectOptions())
  MemorySocket.last.fire('error', { error: new Error('no route') })
  MemorySocket.last.fire('close', { code: 1006 })
  await expect(connecting).rejects.toMatchObject({ recover: 'fresh', code: undefined, cause: new Error('no route') })
})

test('sends no event after the socket has closed', async () => {
  const { socket } = await connected()
  socket.fire('message', { data: JSON.stringify({ type: 'input_audio_buffer.speech_started' }) })
  const sent = socket.sent.length
  socket.readyState = 3
  socket.fire('close', { code: 1006 })
  socket.fire('message', { data: JSON.stringify({ type: 'response.done', response: { id: 'r' } }) })
  expect(socket.sent).toHaveLength(sent)
})

test('delivers nothing after close, also not what has arrived', async () => {
  const { connection, socket } = await connected()
  socket.fire('message', { data: JSON.stringify({ type: 'input_audio_buffer.speech_started' }) })
  connection.close()
  socket.fire('close', { code: 1000 })
  const messages: unknown[] = []
  for await (const message of connection) messages.push(message)
  expect(messages).toEqual([])
})
