import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { limitServerRequests } from './server-requests.ts'

function limited(max: number): { transport: Transport; received: JSONRPCMessage[]; receive(message: object): void } {
  const received: JSONRPCMessage[] = []
  const transport: Transport = { start: async () => {}, close: async () => {}, send: async () => {} }
  limitServerRequests(transport, max)
  transport.onmessage = (message) => received.push(message)
  return {
    transport,
    received,
    receive: (message) => transport.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage),
  }
}

test('drops requests while too many wait for an answer, and accepts others after an answer', async () => {
  const { transport, received, receive } = limited(2)
  for (const id of ['a', 'b', 'c']) receive({ id, method: 'ping' })
  expect(received).toHaveLength(2)
  await transport.send({ jsonrpc: '2.0', id: 'a', result: {} })
  receive({ id: 'd', method: 'ping' })
  expect(received).toHaveLength(3)
})

test('never drops responses and notifications', () => {
  const { received, receive } = limited(0)
  receive({ id: 1, result: {} })
  receive({ method: 'notifications/progress', params: {} })
  receive({ id: 2, method: 'ping' })
  expect(received).toHaveLength(2)
})

test('a request that the server takes back needs no answer', () => {
  const { received, receive } = limited(1)
  receive({ id: 'a', method: 'elicitation/create' })
  receive({ method: 'notifications/cancelled', params: { requestId: 'a' } })
  receive({ id: 'b', method: 'elicitation/create' })
  expect(received).toHaveLength(3)
})
