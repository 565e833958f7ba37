import { expect, test } from 'vitest'
import { loadPeer } from './load-peer.ts'

const notFound = (name: string): Error =>
  Object.assign(new Error(`Cannot find package '${name}' imported from here`), { code: 'ERR_MODULE_NOT_FOUND' })

test('a peer that is installed is given', async () => {
  expect(await loadPeer('some-peer', async () => 'it')).toBe('it')
})

test('a missing peer is an error with the line that cures it', async () => {
  const loading = loadPeer('some-peer', () => Promise.reject(notFound('some-peer')))
  await expect(loading).rejects.toMatchObject({
    code: 'MISSING_PEER',
    message: expect.stringContaining('npm i some-peer'),
  })
})

test('a peer that is there but broken says what broke it', async () => {
  await expect(loadPeer('some-peer', () => Promise.reject(notFound('its-own-need')))).rejects.toThrow('its-own-need')
  await expect(loadPeer('some-peer', () => Promise.reject(new SyntaxError('odd')))).rejects.toThrow('odd')
})
