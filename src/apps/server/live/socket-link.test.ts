import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { DEFAULT_LIMITS } from '../server-options.ts'
import { SocketLink } from './socket-link.ts'

/** A connection that delivers frames when the test says so. */
class TestSocket extends EventEmitter {
  isPaused = false
  pause(): void {
    this.isPaused = true
  }
  resume(): void {
    this.isPaused = false
  }
}

test('a client that sends many frames at once waits until all of them are handled', async () => {
  const socket = new TestSocket()
  const link = new SocketLink(socket as unknown as WebSocket, DEFAULT_LIMITS)
  const ends: (() => void)[] = []
  link.read(() => new Promise((resolve) => ends.push(resolve)))
  expect(socket.isPaused).toBe(false)
  for (const text of ['1', '2', '3']) socket.emit('message', Buffer.from(text), false)
  for (const count of [1, 2, 3]) {
    await expect.poll(() => ends.length).toBe(count)
    expect(socket.isPaused).toBe(true)
    ends.at(-1)?.()
  }
  await expect.poll(() => socket.isPaused).toBe(false)
  socket.emit('close')
})
