import { describe, expect, test } from 'vitest'
import { isLinux, isRoot } from '../process/machine.ts'
import { findIsolation } from './find-isolation.ts'
import type { IsolationName } from './isolation.ts'

describe.runIf(isLinux)('on Linux', () => {
  test('what works first is taken', async () => {
    const tried: string[] = []
    const found = await findIsolation(undefined, async ({ name }) => {
      tried.push(name)
      return tried.length === 1 ? 'it is forbidden' : undefined
    }).catch((error: Error) => error)
    // where only one is installed, its failure is the end
    if (found instanceof Error) expect(found.message).toContain('it is forbidden')
    else expect(found.name).toBe(tried[1])
    expect(tried[0] === 'unshare' || tried.length === 2).toBe(isRoot || tried.length === 2)
  })

  test('when nothing works nothing is run, and it is said why and what to do', async () => {
    const finding = findIsolation(undefined, async ({ name }) => `${name} is forbidden`)
    await expect(finding).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
    await expect(finding).rejects.toThrow('Code cannot be isolated on this machine, so it is not run.')
    await expect(finding).rejects.toThrow('unshare: unshare is forbidden')
    await expect(finding).rejects.toThrow('Install bubblewrap')
  })

  test('an attempt that throws is a reason', async () => {
    const finding = findIsolation('unshare', () => Promise.reject(new Error('no namespaces')))
    await expect(finding).rejects.toThrow('unshare: no namespaces')
  })

  test('one that is asked for is the only one', async () => {
    const tried: IsolationName[] = []
    await findIsolation('unshare', async ({ name }) => {
      tried.push(name)
      return undefined
    })
    expect(tried).toEqual(['unshare'])
  })
})
