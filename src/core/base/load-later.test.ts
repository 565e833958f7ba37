import { expect, test, vi } from 'vitest'
import { loadAllParts, loadLater } from './load-later.ts'

test('a part is loaded at its first use, and later uses do not wait', async () => {
  const load = vi.fn(async () => ({ answer: 42 }))
  const part = loadLater(load)
  expect(load).not.toHaveBeenCalled()
  expect(await part()).toEqual({ answer: 42 })
  expect(part()).toEqual({ answer: 42 }) // no promise
  expect(load).toHaveBeenCalledOnce()
})

test('a part that could not be loaded is loaded again at the next use', async () => {
  const load = vi.fn<() => Promise<{ answer: number }>>()
  load.mockRejectedValueOnce(new Error('no file')).mockResolvedValueOnce({ answer: 42 })
  const part = loadLater(load)
  await expect(part()).rejects.toThrow('no file')
  expect(await part()).toEqual({ answer: 42 })
})

test('all parts can be loaded at once', async () => {
  const part = loadLater(async () => ({ answer: 42 }))
  await loadAllParts()
  expect(part()).toEqual({ answer: 42 })
})
