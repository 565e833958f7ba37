import { expect, test } from 'vitest'
import { limitArguments, resourcesOf } from './resource-limits.ts'

test('limits have defaults; the processor gets as long as the run', () => {
  expect(resourcesOf({}, 1500)).toEqual({
    memoryBytes: 512_000_000,
    cpuSeconds: 2,
    processes: 128,
    diskBytes: 64_000_000,
    diskFiles: 10_000,
    openFiles: 256,
  })
  expect(() => resourcesOf({ processes: 0 }, 1000)).toThrow('processes must be')
})

test('what an engine reserves comes on top', () => {
  const [memory] = limitArguments(resourcesOf({ memoryBytes: 100 }, 1000), 50, new Map())
  expect(memory).toBe('--as=150:150')
})

test('nothing is raised above what the machine allows', () => {
  const hard = new Map([
    ['Max open files', 64],
    ['Max cpu time', 2],
    ['Max core file size', 0],
  ])
  const limits = limitArguments(resourcesOf({ cpuSeconds: 2, diskBytes: 9 }, 1000), 0, hard)
  expect(limits.slice(1)).toEqual(['--cpu=2:2', '--fsize=9:9', '--nofile=64:64', '--core=0:0'])
})
