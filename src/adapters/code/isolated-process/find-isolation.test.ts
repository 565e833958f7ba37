import { describe, expect, test } from 'vitest'
import { isLinux, isRoot } from '../process/machine.ts'
import { findIsolation } from './find-isolation.ts'
import type { IsolationName } from './isolation.ts'

describe.runIf(isLinux)('findIsolation() on Linux', () => {
  test('returns the first isolation that works', async () => {
    const tried: string[] = []
    const found = await findIsolation(undefined, async ({ name }) => {
      tried.push(name)
      return tried.length === 1 ? 'it is forbidden' : undefined
    }).catch((error: Error) => error)
    // if only one is installed, its failure is final
    if (found instanceof Error) expect(found.message).toContain('it is forbidden')
    else expect(found.name).toBe(tried[1])
    expect(tried[0] === 'unshare' || tried.length === 2).toBe(isRoot || tried.length === 2)
  })

  test('rejects with reasons and advice when no isolation works', async () => {
    const finding = findIsolation(undefined, async ({ name }) => `${name} is forbidden`)
    await expect(finding).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
    await expect(finding).rejects.toThrow(
      'isolatedProcess() cannot isolate code on this machine, so it does not run code.',
    )
    await expect(finding).rejects.toThrow('unshare: unshare is forbidden')
    await expect(finding).rejects.toThrow('Install bubblewrap')
  })

  test('reports an attempt that throws as a reason', async () => {
    const finding = findIsolation('unshare', () => Promise.reject(new Error('no namespaces')))
    await expect(finding).rejects.toThrow('unshare: no namespaces')
  })

  test('tries only the isolation that was asked for', async () => {
    const tried: IsolationName[] = []
    await findIsolation('unshare', async ({ name }) => {
      tried.push(name)
      return undefined
    })
    expect(tried).toEqual(['unshare'])
  })
})
