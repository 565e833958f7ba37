import { expect, test } from 'vitest'
import { type AppRequest, inKnownOrder } from './app-request.ts'

const request = (id: string, createdAt?: number): AppRequest => ({
  app: 'shop',
  request: {
    id,
    kind: 'confirmation',
    userId: 'u',
    sessionId: 's',
    invocationId: 'i',
    functionCallId: id,
    tool: 'pay',
    args: {},
    agent: 'a',
    ...(createdAt === undefined ? {} : { createdAt }),
  },
})
const ids = (list: readonly AppRequest[]): string[] => list.map((one) => one.request.id)

test('new requests follow the known ones, the oldest first', () => {
  const known = [request('b', 20), request('a', 10)]
  const all = [request('d', 2), request('undated'), request('a', 10), request('c', 1), request('b', 20)]
  expect(ids(inKnownOrder(all, known))).toEqual(['b', 'a', 'c', 'd', 'undated'])
})
