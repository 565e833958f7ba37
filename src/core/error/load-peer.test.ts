import { expect, test } from 'vitest'
import { loadPeer, loadPeerByName, requirePeers } from './load-peer.ts'

const notFound = (name: string): Error =>
  Object.assign(new Error(`Cannot find package '${name}' imported from here`), { code: 'ERR_MODULE_NOT_FOUND' })

test('loadPeer() loads an installed peer dependency', async () => {
  expect(await loadPeer('some-peer', async () => 'it')).toBe('it')
})

test('loadPeer() names the install command of a missing peer dependency', async () => {
  const loading = loadPeer('some-peer', () => Promise.reject(notFound('some-peer')))
  await expect(loading).rejects.toMatchObject({
    code: 'MISSING_PEER',
    message: expect.stringContaining('npm i some-peer'),
  })
})

test('loadPeer() rethrows the error of an installed peer dependency that fails to load', async () => {
  await expect(loadPeer('some-peer', () => Promise.reject(notFound('its-own-need')))).rejects.toThrow('its-own-need')
  await expect(loadPeer('some-peer', () => Promise.reject(new SyntaxError('odd')))).rejects.toThrow('odd')
})

test('loadPeerByName() names the package of a missing entry point', async () => {
  await expect(loadPeerByName('@some-scope/missing/part')).rejects.toMatchObject({
    code: 'MISSING_PEER',
    message: expect.stringContaining('npm i @some-scope/missing'),
  })
})

test('requirePeers() names all missing packages in one command', async () => {
  const missing = (name: string) => (): Promise<never> => Promise.reject(notFound(name))
  const peers = { 'some-peer': missing('some-peer'), installed: async () => 'it', other: missing('other') }
  await expect(requirePeers(peers)).rejects.toMatchObject({
    code: 'MISSING_PEER',
    message: '"some-peer", "other" are not installed. Run: npm i some-peer other',
  })
  await expect(requirePeers({ installed: async () => 'it' })).resolves.toBeUndefined()
})

test('requirePeers() rethrows the error of an installed package that fails to load', async () => {
  const peers = { broken: () => Promise.reject(new SyntaxError('odd')) }
  await expect(requirePeers(peers)).rejects.toThrow('odd')
})
