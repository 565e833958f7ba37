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

test('never drops responses and notifications', async () => {
  const { received, receive } = limited(0)
  receive({ id: 1, result: {} })
  receive({ method: 'notifications/progress', params: {} })
  receive({ id: 2, method: 'ping' })
  await Promise.resolve()
  expect(received).toHaveLength(2)
})

test('a request that the server takes back needs no answer', () => {
  const { received, receive } = limited(1)
  receive({ id: 'a', method: 'elicitation/create' })
  receive({ method: 'notifications/cancelled', params: { requestId: 'a' } })
  receive({ id: 'b', method: 'elicitation/create' })
  expect(received).toHaveLength(3)
})

test('a client that handles notifications a microtask later sees progress before the result that arrives with it', async () => {
  const { transport, receive } = limited(1)
  const handled: string[] = []
  transport.onmessage = (message) => {
    if ('method' in message) void Promise.resolve().then(() => handled.push('progress'))
    else handled.push('result')
  }
  receive({ method: 'notifications/progress', params: {} })
  receive({ id: 1, result: {} })
  await Promise.resolve()
  expect(handled).toEqual(['progress', 'result'])
})
