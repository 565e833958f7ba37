import { InMemorySessionService } from 'toolwright'
import { expect, test } from 'vitest'
import { createTestServer, SESSIONS } from '../server.test-kit.ts'

/** A store with sessions of about 10 kB, which counts those that were read. */
async function countingService(sessions: number): Promise<{ service: InMemorySessionService; read: () => number }> {
  const service = new InMemorySessionService()
  for (let n = 0; n < sessions; n++)
    await service.createSession({
      appName: 'desk',
      userId: 'ada',
      sessionId: `s${n}`,
      state: { text: 'x'.repeat(10_000) },
    })
  let read = 0
  const page = service.listSessionPage.bind(service)
  service.listSessionPage = async (options) => {
    const found = await page(options)
    read += found.items.length
    return found
  }
  service.listSessions = () => Promise.reject(new Error('The whole list is never read.'))
  return { service, read: () => read }
}

test('a list that is too large is not read to its end', async () => {
  const { service, read } = await countingService(1_000)
  const { send } = createTestServer({ services: { sessionService: service }, limits: { responseBytes: 1_500_000 } })
  expect((await send(`GET ${SESSIONS}`)).status).toBe(413)
  expect(read()).toBeLessThan(300)
})

test('a page reads what it shows', async () => {
  const { service, read } = await countingService(100)
  const { send } = createTestServer({ services: { sessionService: service } })
  expect((await send(`GET ${SESSIONS}?limit=10`)).json()).toHaveLength(10)
  expect(read()).toBe(10)
})

test('other requests are answered while a long list is made', async () => {
  const { service } = await countingService(1_000)
  const { send } = createTestServer({ services: { sessionService: service } })
  const order: string[] = []
  const list = send(`GET ${SESSIONS}`).then(({ status }) => order.push(`list ${status}`))
  let turns = 0
  const count = (): void => {
    turns++
    if (order.length < 2) setImmediate(count)
  }
  setImmediate(count)
  await send('GET /health').then(() => order.push('health'))
  await list
  expect(order).toEqual(['health', 'list 200'])
  expect(turns).toBeGreaterThan(5) // one piece has at most 1 MB
})
