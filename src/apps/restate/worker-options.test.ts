import { LlmAgent, Runner } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'
import { checkWorkerOptions, type RestateWorkerOptions } from './worker-options.ts'

function openRunner(appName = 'shop'): Runner {
  const runner = new Runner({ appName, agent: new LlmAgent({ name: 'desk', model: scriptedModel([]) }) })
  onTestFinished(() => runner.close())
  return runner
}

function optionsWith(change: object): RestateWorkerOptions {
  return { runners: [openRunner()], ingress: 'http://127.0.0.1:8080', secret: 'x'.repeat(32), ...change }
}

test.each([
  ['a worker on loopback', {}],
  ['a worker that registers itself', { admin: 'http://127.0.0.1:9070', url: new URL('http://balancer.test:9080') }],
  [
    'a worker that other machines reach, with the key of Restate',
    { host: '10.0.0.5', identityKeys: ['publickeyv1_x'] },
  ],
  ['a worker behind a proxy', { host: '0.0.0.0', url: 'http://workers.test', allowUnauthenticatedRemote: true }],
  ['any names of loopback', { host: 'localhost', port: 0, concurrency: 1, maxCrashes: 1 }],
])('accepts %s', (_what, change) => {
  checkWorkerOptions(optionsWith(change))
})

test.each([
  ['no runner', { runners: [] }, '`runners` is empty. Pass the runner of each app.'],
  ['something else than a runner', { runners: [{ appName: 'shop' }] }, '`runners` must be a list of runners'],
  ['a short secret', { secret: 'short' }, '`secret` must have at least 32 characters'],
  ['no secret', { secret: undefined }, '`secret` must have at least 32 characters'],
  ['no ingress', { ingress: undefined }, '`ingress` must be an http or https address'],
  ['an address with a password', { admin: 'http://a:b@127.0.0.1' }, '`admin` must be an http or https address'],
  ['another protocol', { url: 'ws://127.0.0.1' }, '`url` must be an http or https address'],
  ['a misspelled option', { maxCrash: 5 }, 'maxCrashes'],
  ['a number that allows no crash', { maxCrashes: 0 }, 'maxCrashes must be a whole number >= 1'],
  ['a concurrency of nothing', { concurrency: 0 }, 'concurrency must be a whole number >= 1'],
  ['a host that other machines reach', { host: '10.0.0.5' }, 'Set `identityKeys`'],
  ['a host that other machines reach, and no key', { host: '10.0.0.5', identityKeys: [] }, 'Set `identityKeys`'],
  ['a key that is none of Restate', { host: '10.0.0.5', identityKeys: [''] }, '`identityKeys` must have'],
  ['all addresses, and no url', { host: '0.0.0.0', allowUnauthenticatedRemote: true }, 'Set `url`'],
])('refuses %s', (_what, change, message) => {
  expect(() => checkWorkerOptions(optionsWith(change))).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining(message) }),
  )
})

test('refuses two runners of one app', () => {
  expect(() => checkWorkerOptions(optionsWith({ runners: [openRunner(), openRunner('desk'), openRunner()] }))).toThrow(
    /two runners of the app "shop"/,
  )
})
