// Bounds the requests that a server sends to us: every one costs an answer, and over HTTP a connection.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { MAX_SERVER_REQUESTS } from '../limits.ts'

/**
 * Drops requests of the server while `MAX_SERVER_REQUESTS` of them wait for our answers. Call it before the client connects.
 * Responses and notifications always pass.
 */
export function limitServerRequests(transport: Transport, max: number = MAX_SERVER_REQUESTS): void {
  const open = new Set<unknown>()
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    try {
      await send(message, options)
    } finally {
      if ('id' in message && !('method' in message)) open.delete(message.id)
    }
  }
  let handler: Transport['onmessage']
  const receive = (message: JSONRPCMessage, extra?: unknown): void => {
    if ('method' in message && 'id' in message) {
      if (open.size >= max) return
      open.add(message.id)
    } else if ('method' in message && message.method === 'notifications/cancelled') {
      open.delete(message.params?.requestId) // it gets no answer
    }
    if ('method' in message) handler?.(message, extra as never)
    // the client handles a notification a moment after it gets it: without a wait, progress that arrives with its result is lost
    else queueMicrotask(() => handler?.(message, extra as never))
  }
  Object.defineProperty(transport, 'onmessage', {
    get: () => handler && receive,
    set: (given: Transport['onmessage']) => {
      handler = given
    },
  })
}
