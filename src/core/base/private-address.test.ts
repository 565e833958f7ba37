import { describe, expect, test } from 'vitest'
import { isLoopbackHost, isPrivateHost } from './private-address.ts'

/** The host as a URL has it: numbers in other spellings are read by `new URL()`. */
const hostOf = (host: string): string => new URL(`http://${host}/`).hostname

describe('isPrivateHost() refuses', () => {
  test.each([
    ...['127.0.0.1', '127.1', '0x7f000001', '0177.1', '2130706433', '127.0.0.1.', '１２７.0.0.1', '0.0.0.0', '0'],
    ...['10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.0.1', '169.254.169.254', '100.64.0.1', '198.18.0.1'],
    ...['224.0.0.1', '255.255.255.255', '192.0.2.1', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'],
    ...['[::127.0.0.1]', '[fe80::1]', '[fc00::1]', '[fd12:3456::1]', '[ff02::1]', '[64:ff9b::10.0.0.1]'],
    ...['[2002:7f00:1::]', '[2001::1]', '[2001:db8::1]', '[0:0:0:0:0:ffff:a9fe:a9fe]', '[::ffff:0:127.0.0.1]'],
    ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'ⓛocalhost', 'router', 'printer.local', 'db.internal'],
    ...['sso.corp', 'nas.lan', 'hub.home.arpa', 'db.internal.'],
  ])('%s', (host) => {
    expect(isPrivateHost(hostOf(host))).toBe(true)
  })

  test('addresses of a resolver with a zone or in long form', () => {
    expect(isPrivateHost('fe80::1%eth0')).toBe(true)
    expect(isPrivateHost('0000:0000:0000:0000:0000:0000:0000:0001')).toBe(true)
    expect(isPrivateHost('1:2:3')).toBe(true)
    expect(isPrivateHost('::1::2')).toBe(true)
  })
})

describe('isPrivateHost() accepts', () => {
  test.each([
    ...['8.8.8.8', '1.1.1.1', '172.15.0.1', '172.32.0.1', '100.128.0.1', '169.253.0.1', '192.0.1.1', '223.255.255.255'],
    ...['[2606:4700::1111]', '[2a00:1450::1]', '[::ffff:8.8.8.8]', '[64:ff9b::8.8.8.8]', '[2002:808:808::]'],
    ...['auth.example.com', 'localhost.example.com', 'local.example', '10.example.com', 'xn--bcher-kva.example'],
  ])('%s', (host) => {
    expect(isPrivateHost(hostOf(host))).toBe(false)
  })
})

test.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['[::1]', true],
  ['[::ffff:127.0.0.1]', true],
  ['localhost', true],
  ['localhost.', true],
  ['a.localhost', false],
  ['10.0.0.1', false],
  ['[::2]', false],
  ['localhost.example', false],
  ['128.0.0.1', false],
])('isLoopbackHost(%s) is %s', (host, expected) => {
  expect(isLoopbackHost(hostOf(host))).toBe(expected)
})
