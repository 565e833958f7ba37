import { InMemorySessionService, Runner } from 'toolwright'
import { expect, test } from 'vitest'
import { ToolwrightError } from '../../../core/error/error.ts'
import { createServer } from '../create-server.ts'
import { helloAgent } from '../edge.test-kit.ts'

/** A server whose store throws, and what its operator reads. */
function failingServer(error: unknown) {
  const logged: string[] = []
  const logger = { warn: () => {}, error: (message: string) => void logged.push(message) }
  const sessionService = new InMemorySessionService()
  const server = createServer({
    apps: { hello: new Runner({ appName: 'hello', agent: helloAgent(), sessionService }) },
    logger,
  })
  sessionService.listSessionPage = () => Promise.reject(error)
  const get = (accept = 'application/json'): Promise<Response> =>
    server.fetch(
      new Request('http://localhost/apps/hello/users/ada/sessions', {
        headers: { authorization: `Bearer ${server.token}`, accept },
      }),
    )
  return { get, logged }
}

test('a failure of the server shows a code and a correlation id; the operator finds the reason with it', async () => {
  const secret = 'select * from users; password=hunter2hunter2 at /srv/app/db.ts:7'
  for (const thrown of [new Error(secret), new ToolwrightError('INVALID_CONFIG', secret), secret, undefined]) {
    const { get, logged } = failingServer(thrown)
    const response = await get()
    expect(response.status).toBe(500)
    const body = (await response.json()) as { correlationId: string }
    expect(body).toEqual({
      error: 'The server failed. The operator finds the reason in the log, under the correlation id.',
      errorCode: 'INTERNAL',
      correlationId: response.headers.get('x-correlation-id'),
    })
    expect(logged[0]).toContain(body.correlationId)
  }
})

test('the status of an error follows its code, and a store that fails is 503', async () => {
  const busy = await failingServer(new ToolwrightError('SESSION_BUSY', 'The session is busy.')).get()
  expect(busy.status).toBe(409)
  expect(await busy.json()).toMatchObject({ error: 'The session is busy.', errorCode: 'SESSION_BUSY' })
  const failed = await failingServer(new ToolwrightError('STORAGE', 'disk full: /var/lib/app.db')).get()
  expect(failed.status).toBe(503)
  expect(await failed.text()).not.toContain('app.db')
})

test('an error does not send a large request back', async () => {
  const response = await failingServer(new ToolwrightError('NOT_FOUND', `No app "${'x'.repeat(1_000_000)}".`)).get()
  expect(response.status).toBe(404)
  const body = await response.text()
  expect(body).toContain('No app \\"xxx')
  expect(body.length).toBeLessThan(5_000)
})

test('a client that accepts an event stream gets the error as one frame, with its status', async () => {
  const { get } = failingServer(new ToolwrightError('PAUSED', 'Answer request "r1" first.'))
  const response = await get('text/event-stream')
  expect(response.status).toBe(409)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(await response.text()).toMatch(
    /^data: \{"error":"Answer request \\"r1\\" first\.","errorCode":"PAUSED",.*\}\n\n$/,
  )
})
