import { expect, test } from 'vitest'
import { systemResolve } from './system-resolve.ts'

test('systemResolve() returns all addresses of a name', async () => {
  const addresses = (await systemResolve()?.('localhost')) ?? []
  expect(addresses.length).toBeGreaterThan(0)
  expect(addresses.filter((address) => address !== '127.0.0.1' && address !== '::1')).toEqual([])
})
