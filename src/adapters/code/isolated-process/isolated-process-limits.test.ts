// The resource limits of isolatedProcess(). Each test sets a small limit, so that exceeding it is quick.
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, describe, expect, test } from 'vitest'
import { findWorkingIsolations, hasBash, hasPython, run } from '../executor.test-kit.ts'
import { type IsolatedProcessOptions, isolatedProcess } from './isolated-process.ts'

const isolations = await findWorkingIsolations()
const listTempFolders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('toolwright-code-'))
const before = listTempFolders()
afterAll(() => expect(listTempFolders()).toEqual(before))

describe.concurrent.each(isolations)('isolatedProcess() with %s', (isolation) => {
  const limited = (options: Partial<IsolatedProcessOptions>) =>
    isolatedProcess({ languages: ['bash', 'python', 'javascript'], isolation, timeoutMs: 10_000, ...options })

  describe.skipIf(!hasPython || !hasBash)('limits processes', () => {
    const executor = limited({ processes: 16, timeoutMs: 1500 })
    /** Starts up to a hundred sleeping children and prints how many the kernel allowed. */
    const forkChildren = `import os, time
count = 0
for _ in range(100):
    try:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        count += 1
    except OSError:
        break
print(count)`

    test('to the number of the option processes', async () => {
      const { outcome, output } = await run(executor, forkChildren, { language: 'python' })
      expect(outcome).toBe('OK')
      expect(Number(output)).toBeGreaterThan(8)
      expect(Number(output)).toBeLessThan(16)
    })

    test('and counts threads', async () => {
      const code = `import threading, time
count = 0
for _ in range(100):
    try:
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
        count += 1
    except RuntimeError:
        break
print(count)`
      expect(Number((await run(executor, code, { language: 'python' })).output)).toBeLessThan(16)
    })

    test('so that a fork bomb does not leave the sandbox', async () => {
      const count = (): number => Number(/(\d+)\/(\d+)/.exec(readFileSync('/proc/loadavg', 'utf8'))?.[2])
      const before = count()
      const { outcome } = await run(executor, 'bomb() { bomb | bomb & bomb; }; bomb 2>/dev/null; wait; sleep 20', {
        language: 'bash',
      })
      expect(['FAILED', 'DEADLINE_EXCEEDED']).toContain(outcome)
      expect(count()).toBeLessThan(before + 300)
      expect(await run(executor, 'echo after')).toEqual({ outcome: 'OK', output: 'after' })
    })
  })

  describe('limits time', () => {
    test('by cpuSeconds', async () => {
      const executor = limited({ cpuSeconds: 1 })
      const { outcome, output } = await run(executor, 'console.log("before"); for (;;);', { language: 'js' })
      expect(outcome).toBe('DEADLINE_EXCEEDED')
      expect(output).toMatch(/^before\n[\s\S]*\[stopped: the code used up its CPU time\]$/)
    })

    test.skipIf(!hasBash)('by timeoutMs for code that sleeps', async () => {
      const { outcome, output } = await run(
        limited({ timeoutMs: 1000 }),
        `trap '' TERM; echo before; sleep 30; echo after`,
      )
      expect({ outcome, output }).toEqual({ outcome: 'DEADLINE_EXCEEDED', output: 'before\n[stopped after 1000 ms]' })
    })
  })

  describe('limits memory', () => {
    const executor = limited({ memoryBytes: 64_000_000 })

    test.skipIf(!hasPython)('of Python', async () => {
      expect((await run(executor, 'print(len(bytearray(20_000_000)))', { language: 'python' })).output).toBe('20000000')
      const { outcome, output } = await run(executor, 'bytearray(80_000_000)', { language: 'python' })
      expect(outcome).toBe('FAILED')
      expect(output).toContain('MemoryError')
    })

    test.skipIf(!hasPython)('of shared mappings', async () => {
      const code = 'import mmap; mmap.mmap(-1, 80_000_000)'
      expect((await run(executor, code, { language: 'python' })).outcome).toBe('FAILED')
    })

    test('of Node', async () => {
      const { outcome, output } = await run(executor, 'const a = []; for (;;) a.push(new Array(1e5).fill(a.length))', {
        language: 'js',
      })
      expect(outcome).toBe('FAILED')
      expect(output).toContain('heap out of memory')
    })
  })

  describe.skipIf(!hasBash)('limits the disk', () => {
    const executor = limited({ diskBytes: 2_000_000, diskFiles: 200 })

    test('for one file', async () => {
      const { output } = await run(executor, 'head -c 5000000 /dev/zero > big; stat -c %s big')
      expect(Number(/^\d+/.exec(output)?.[0])).toBeLessThanOrEqual(2_000_000)
    })

    test('for all files in all writable folders', async () => {
      const code = `for folder in /tmp /tmp/work /dev/shm; do for i in 1 2 3; do head -c 900000 /dev/zero > $folder/big$i; done; done 2>/dev/null
du -sb /tmp | cut -f1`
      const { output } = await run(executor, code)
      expect(Number(/^\d+/.exec(output)?.[0])).toBeLessThanOrEqual(2_100_000)
    })

    test('for a sparse file', async () => {
      const { outcome, output } = await run(executor, 'truncate -s 4G sparse')
      expect(outcome).toBe('FAILED')
      expect(output).toMatch(/File too large|File size limit/)
    })

    test('to diskFiles files', async () => {
      const code =
        'i=0; while [ $i -lt 20000 ] && : > f$i; do i=$((i + 1)); done 2>/dev/null; echo made $i; [ $i -lt 200 ] || sleep 5'
      const { outcome, output } = await run(executor, code)
      if (isolation === 'unshare') expect(Number(/made (\d+)/.exec(output)?.[1])).toBeLessThan(200)
      else
        expect([outcome, output]).toEqual([
          'FAILED',
          expect.stringContaining('[stopped: the code created more than 200 files]'),
        ])
    })
  })

  describe.skipIf(!hasBash)('limits output', () => {
    const executor = limited({ maxOutputBytes: 4000 })

    test('by truncating the output while the code continues', async () => {
      const { outcome, output } = await run(executor, 'head -c 10000 /dev/zero | tr "\\0" x; echo last >&2')
      expect(outcome).toBe('OK')
      expect(output).toBe(`${'x'.repeat(3000)}\n[cut: 7000 more bytes were printed]\n--- stderr ---\nlast`)
    })

    test('by stopping code that prints endlessly', async () => {
      const { outcome, output } = await run(executor, 'yes')
      expect(outcome).toBe('FAILED')
      expect(output).toMatch(/\[stopped: the code printed more than 400000 bytes\]$/)
      expect(output.length).toBeLessThan(4200)
    })

    test('by stopping code that prints endlessly without a newline', async () => {
      const { outcome } = await run(executor, 'cat /dev/zero >&2')
      expect(outcome).toBe('FAILED')
    })
  })

  test.skipIf(!hasBash)('limits open files and core dumps', async () => {
    const executor = limited({ openFiles: 32 })
    expect((await run(executor, 'ulimit -n; ulimit -c')).output).toMatch(/^32\n[01]$/)
  })
})
