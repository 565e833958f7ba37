import { InMemorySessionService } from 'toolwright'
import { expect, test } from 'vitest'
import { bearerTokens } from '../principal/bearer-tokens.ts'
import { createTestServer, type TestClient } from '../server.test-kit.ts'

const authenticate = bearerTokens({ 'ada-token-0123456789': 'ada', 'eve-token-0123456789': 'eve' })
const ADA = { as: 'ada-token-0123456789' }
const EVE = { as: 'eve-token-0123456789' }

/** A server whose store keeps the lists of eve waiting. */
function waitingServer(): TestClient & { readonly reading: () => number; release(): void } {
  const sessionService = new InMemorySessionService()
  const gate = Promise.withResolvers<void>()
  let reading = 0
  const read = sessionService.listSessionPage.bind(sessionService)
  sessionService.listSessionPage = async (options) => {
    if (options.userId === 'eve') {
      reading++
      await gate.promise
    }
    return await read(options)
  }
  const client = createTestServer({ services: { sessionService }, authenticate })
  return { ...client, reading: () => reading, release: gate.resolve }
}

test('the reads of one user wait for each other, and those of another user do not wait for them', async () => {
  const { send, reading, release } = waitingServer()
  const lists = Array.from({ length: 8 }, () => send('GET /apps/desk/users/eve/sessions', undefined, EVE))
  await expect.poll(reading).toBe(2)
  expect((await send('GET /apps/desk/users/ada/sessions', undefined, ADA)).status).toBe(200)
  expect(reading()).toBe(2)
  release()
  expect((await Promise.all(lists)).map(({ status }) => status)).toEqual(Array(8).fill(200))
  expect(reading()).toBe(8)
})

test('a user with too many reads that wait is refused', async () => {
  const { send, reading, release } = waitingServer()
  const lists = Array.from({ length: 102 }, () => send('GET /apps/desk/users/eve/sessions', undefined, EVE))
  await expect.poll(reading).toBe(2)
  const refused = await send('GET /apps/desk/users/eve/sessions', undefined, EVE)
  expect([refused.status, refused.json().errorCode]).toEqual([429, 'RATE_LIMITED'])
  release()
  for (const { status } of await Promise.all(lists)) expect(status).toBe(200)
})
