import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { RecentEvents } from './event-store.ts'

const message = (method: string): JSONRPCMessage => ({ jsonrpc: '2.0', method })

async function replay(events: RecentEvents, id: string): Promise<string[]> {
  const sent: string[] = []
  await events.replayEventsAfter(id, { send: async (_, one) => void sent.push('method' in one ? one.method : '') })
  return sent
}

test('a client gets the events of its stream that it missed', async () => {
  const events = new RecentEvents()
  const first = await events.storeEvent('a', message('one'))
  await events.storeEvent('b', message('other'))
  await events.storeEvent('a', message('two'))
  expect(await replay(events, first)).toEqual(['two'])
  expect(await events.getStreamIdForEventId(first)).toBe('a')
})

test('old and large events are dropped', async () => {
  const events = new RecentEvents()
  const first = await events.storeEvent('a', message('one'))
  for (let at = 0; at < 100; at++) await events.storeEvent('a', message(`n${at}`))
  expect(await events.getStreamIdForEventId(first)).toBeUndefined()
  await expect(replay(events, first)).rejects.toThrow('not kept')
  const large = await events.storeEvent('a', message('x'.repeat(2_000_000)))
  expect(await events.getStreamIdForEventId(large)).toBeUndefined()
})
