import { expect, test } from 'vitest'
import { checkRemoteAccess } from './remote-access.ts'

test.each([
  ['127.0.0.1', { token: undefined, hasAuthenticate: false }],
  ['localhost', { token: undefined, hasAuthenticate: false }],
  ['0.0.0.0', { token: 'a-long-random-token', hasAuthenticate: false }],
  ['0.0.0.0', { token: undefined, hasAuthenticate: true }],
])('accepts %s with %o', (host, access) => {
  expect(() => checkRemoteAccess(host, access)).not.toThrow()
})

test.each(['0.0.0.0', '::', '192.168.0.7', 'example.com', '127.0.0.1.example.com'])(
  'refuses %s without a secret of the operator',
  (host) => {
    expect(() => checkRemoteAccess(host, { token: undefined, hasAuthenticate: false })).toThrow(
      'Other machines can reach',
    )
  },
)
