import { expect, test } from 'vitest'
import { prlimitArguments, readResourceLimits } from './resource-limits.ts'

test('readResourceLimits() fills in the default of every limit; cpuSeconds follows timeoutMs', () => {
  expect(readResourceLimits({}, 1500)).toEqual({
    memoryBytes: 512_000_000,
    cpuSeconds: 2,
    processes: 128,
    diskBytes: 64_000_000,
    diskFiles: 10_000,
    openFiles: 256,
  })
  expect(() => readResourceLimits({ processes: 0 }, 1000)).toThrow('processes must be')
})

test('prlimitArguments() adds reserved address space to the memory limit', () => {
  const [memory] = prlimitArguments(readResourceLimits({ memoryBytes: 100 }, 1000), 50, new Map())
  expect(memory).toBe('--as=150:150')
})

test('prlimitArguments() lowers limits to the hard limits of the machine', () => {
  const hard = new Map([
    ['Max open files', 64],
    ['Max cpu time', 2],
    ['Max core file size', 0],
  ])
  const limits = prlimitArguments(readResourceLimits({ cpuSeconds: 2, diskBytes: 9 }, 1000), 0, hard)
  expect(limits.slice(1)).toEqual(['--cpu=2:2', '--fsize=9:9', '--nofile=64:64', '--core=0:0'])
})
