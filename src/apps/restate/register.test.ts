import { ToolwrightError } from 'toolwright'
import { expect, test } from 'vitest'
import { register, whileUnavailable } from './register.ts'

const ADMIN = new URL('http://127.0.0.1:9070/')
const WORKER = { uri: new URL('http://127.0.0.1:9080/'), services: ['toolwright-shop', 'toolwright-shop.sweep'] }
const KNOWN = JSON.stringify({ id: 'dp_1', services: WORKER.services.map((name) => ({ name, revision: 1 })) })

test('sends the address of the worker to Restate', async () => {
  const sent: unknown[] = []
  const send: typeof fetch = async (url, init) => {
    sent.push([String(url), init?.method, init?.body])
    return new Response(KNOWN, { status: 201 })
  }
  await register(ADMIN, WORKER, send)
  expect(sent).toEqual([['http://127.0.0.1:9070/deployments', 'POST', '{"uri":"http://127.0.0.1:9080/"}']])
})

test('an address that Restate knows is fine, if it has the services of the worker', async () => {
  await register(ADMIN, WORKER, async () => new Response(KNOWN))
  const other = JSON.stringify({
    id: 'dp_1',
    services: [{ name: 'toolwright-shop' }, { name: 'toolwright-bank.sweep' }],
  })
  await expect(register(ADMIN, WORKER, async () => new Response(other))).rejects.toMatchObject({
    code: 'ALREADY_EXISTS',
    message: expect.stringMatching(/an address of their own.*knows no "toolwright-shop.sweep" there/),
  })
})

test.each(['<html>', '{}', '{"services":1}'])(
  'says that the address of the admin API is another server: %s',
  async (page) => {
    await expect(register(ADMIN, WORKER, async () => new Response(page))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('Is it the admin API of Restate?'),
    })
  },
)

test('says that an address has the services of another version', async () => {
  await expect(register(ADMIN, WORKER, async () => new Response('conflict', { status: 409 }))).rejects.toMatchObject({
    code: 'ALREADY_EXISTS',
    message: expect.stringMatching(/Give the workers of each version an address of their own.*says: conflict/),
  })
})

test('says why Restate cannot be reached, or cannot reach the worker', async () => {
  const refused = async (): Promise<Response> => {
    throw new TypeError('connect ECONNREFUSED')
  }
  const failed = async (): Promise<Response> => new Response('cannot reach the deployment', { status: 400 })
  await expect(register(ADMIN, WORKER, refused)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'The worker could not be registered at http://127.0.0.1:9070: connect ECONNREFUSED',
  })
  await expect(register(ADMIN, WORKER, failed)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('400 cannot reach the deployment'),
  })
})

/** Fails in turn with these errors, then succeeds. */
function failing(...errors: readonly Error[]): { tries: number; work: () => Promise<void> } {
  const state = {
    tries: 0,
    work: async () => {
      const error = errors[state.tries++]
      if (error) throw error
    },
  }
  return state
}

const away = new ToolwrightError('UNAVAILABLE', 'away')

test('is tried again while Restate is away', async () => {
  const state = failing(away)
  await whileUnavailable(state.work, new AbortController().signal)
  expect(state.tries).toBe(2)
})

test('is not tried again after another error, or when the worker stops', async () => {
  const refused = failing(new ToolwrightError('ALREADY_EXISTS', 'other services'))
  await expect(whileUnavailable(refused.work, new AbortController().signal)).rejects.toThrow('other services')
  expect(refused.tries).toBe(1)
  const stopped = failing(away, away)
  await expect(whileUnavailable(stopped.work, AbortSignal.abort())).rejects.toThrow('away')
  expect(stopped.tries).toBe(1)
})
