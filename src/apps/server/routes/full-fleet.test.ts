// A full fleet refuses runs of any process with 429, and says when to try again.
import { InMemoryLimitService, InMemorySessionService, Runner } from 'toolwright'
import { expect, test } from 'vitest'
import { createSession, helloAgent, runBody, slowAgent, startServer } from '../edge.test-kit.ts'

test.each(['/run', '/run_sse'])(
  '%s answers 429 with Retry-After while the fleet is full, and runs after that',
  async (path) => {
    const slow = slowAgent()
    const services = { sessionService: new InMemorySessionService(), limitService: new InMemoryLimitService() }
    const options = { appName: 'hello', ...services, limits: { runs: { perApp: 1 } } }
    const other = new Runner({ ...options, agent: slow.agent })
    const started = await startServer({ apps: { hello: new Runner({ ...options, agent: helloAgent() }) } })
    const { url, headers } = started
    const id = await createSession(started)
    const run = (): Promise<Response> => fetch(`${url}${path}`, { method: 'POST', headers, body: runBody(id) })

    const running = other.complete({ userId: 'eve', message: 'Go.' })
    await slow.started
    const refused = await run()
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    const problem = 'The app has as many runs at the same time as it may have: 1 (limits.runs.perApp).'
    expect(await refused.json()).toMatchObject({
      errorCode: 'RATE_LIMITED',
      error: `${problem} Try again in a second.`,
    })
    slow.release()
    await running
    const accepted = await run()
    expect(accepted.status).toBe(200)
    expect(await accepted.text()).toContain('Hello.')
    await other.close()
  },
)
