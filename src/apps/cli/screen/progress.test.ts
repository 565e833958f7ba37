import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withProgress } from './progress.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function terminal(isTTY: boolean) {
  const stream = () => Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY, columns: 80 })
  return { output: stream(), errors: stream(), env: {} }
}

/** Runs work that takes this long, and returns what was printed. */
async function work(ms: number, isTTY: boolean): Promise<{ out: string; errors: string }> {
  const streams = terminal(isTTY)
  const done = withProgress(streams, 'Loading a\nb.ts', () => new Promise((resolve) => setTimeout(resolve, ms, 'done')))
  await vi.advanceTimersByTimeAsync(ms)
  expect(await done).toBe('done')
  return { out: streams.output.read() ?? '', errors: streams.errors.read() ?? '' }
}

test('work of less than a second shows nothing', async () => {
  expect(await work(900, true)).toEqual({ out: '', errors: '' })
  expect(await work(900, false)).toEqual({ out: '', errors: '' })
})

test('longer work prints one line to standard error in a pipe', async () => {
  expect(await work(5_000, false)).toEqual({ out: '', errors: '… Loading a\\nb.ts\n' })
})

test('longer work shows a spinner with the seconds in a terminal, and removes it at the end', async () => {
  const { out, errors } = await work(3_500, true)
  expect(out).toBe('')
  expect(errors).toMatch(/⠋.*Loading a\\nb\.ts 1s/)
  expect(errors).toContain('Loading a\\nb.ts 3s')
  expect(errors.endsWith('\r\x1b[K')).toBe(true)
})

test('work that fails removes the spinner and passes the error on', async () => {
  const streams = terminal(true)
  const failing = withProgress(streams, 'Loading', async () => {
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    throw new Error('no file')
  })
  const failed = expect(failing).rejects.toThrow('no file')
  await vi.advanceTimersByTimeAsync(2_000)
  await failed
  expect(streams.errors.read().endsWith('\r\x1b[K')).toBe(true)
})
