import { expect, test } from 'vitest'
import { runCommandLine } from '../terminal.test-kit.ts'
import { readRestateArguments } from './restate-arguments.ts'

const TOOLWRIGHT_FLEET_SECRET = 'a'.repeat(32)
const env = { TOOLWRIGHT_FLEET_SECRET }
const restate = 'http://restate.example:8080'
const key = 'publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f'

test('a worker needs no more than --restate and the secret', () => {
  expect(readRestateArguments({ restate: 'http://127.0.0.1:8080' }, env)).toEqual({
    ingress: 'http://127.0.0.1:8080',
    admin: 'http://127.0.0.1:9070',
    url: undefined,
    host: '127.0.0.1',
    port: 9_080,
    identityKeys: [],
    secret: TOOLWRIGHT_FLEET_SECRET,
  })
  expect(readRestateArguments({}, {})).toBe(undefined)
})

test('a worker for other machines takes keys one by one and as a list', () => {
  const places = { host: '0.0.0.0', url: 'http://workers:9080', port: '0', 'restate-admin': 'https://admin.example' }
  const given = readRestateArguments({ restate, ...places, 'identity-key': [`${key}, ${key}2`, `${key}3`] }, env)
  expect(given).toMatchObject({
    host: '0.0.0.0',
    url: 'http://workers:9080',
    port: 0,
    admin: 'https://admin.example',
    identityKeys: [key, `${key}2`, `${key}3`],
  })
})

test.each([
  [{ url: 'http://workers:9080' }, '--url is for a worker that Restate calls. Add --restate <url>.'],
  [{ 'identity-key': [key] }, '--identity-key is for a worker that Restate calls.'],
  [{ restate: 'restate:8080' }, '--restate must be an http or https address'],
  [{ restate: 'http://ada:hidden@restate:8080' }, '--restate must be an http or https address without user'],
  [{ restate, 'restate-admin': 'no' }, '--restate-admin must be an http or https address'],
  [{ restate, url: 'ftp://workers' }, '--url must be an http or https address'],
  [{ restate, port: '99999' }, '--port must be a number'],
  [{ restate, host: '10.0.0.1' }, 'Pass --identity-key'],
  [{ restate, host: '0.0.0.0', 'identity-key': [key] }, 'Pass --url'],
  [{ restate, 'identity-key': ['publickey'] }, '--identity-key must be a public key that Restate prints'],
])('refuses %j', (values, problem) => {
  let message = ''
  try {
    readRestateArguments(values, env)
  } catch (error) {
    message = (error as Error).message
  }
  expect(message).toContain(problem)
  expect(message).not.toContain('hidden')
})

test.each([
  [{}, 'TOOLWRIGHT_FLEET_SECRET is not set'],
  [{ TOOLWRIGHT_FLEET_SECRET: 'short-and-hidden' }, 'TOOLWRIGHT_FLEET_SECRET has only 16 characters'],
])('a worker and a server without a good secret say how to make one', async (variables, problem) => {
  for (const command of ['worker', 'serve']) {
    const args = [command, 'test/examples/fixtures/refund.ts', '--restate', 'http://127.0.0.1:8080']
    const { code, errors } = await runCommandLine(args, { env: { ...variables } })
    expect([code, errors]).toEqual([1, expect.stringContaining(problem)])
    expect(errors).toContain('openssl rand -hex 32')
    expect(errors).not.toContain('short-and-hidden')
  }
})
