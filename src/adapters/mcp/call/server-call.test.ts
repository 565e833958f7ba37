import type { ElicitRequest } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { McpConnection } from '../connection/connection.ts'
import { GuardedFetch } from '../connection/guarded-fetch.ts'
import { AFTER_RESPONSE_MS } from '../limits.ts'
import type { ServerTool } from '../listing/server-tool.ts'
import { ServerCall } from './server-call.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const params = { message: 'Name?', requestedSchema: { type: 'object', properties: {} } } as ElicitRequest['params']

/** A call whose answer, progress and end of response the test decides. */
function start(timeoutMs = 1_000): {
  call: ServerCall
  ended: ReturnType<typeof vi.fn>
  seen: unknown[]
  answer(result: unknown): void
  progress(value: object): void
  endResponse(): void
} {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const ended = vi.fn()
  const seen: unknown[] = []
  let onprogress: (value: object) => void = () => {}
  let onEnd = (): void => {}
  const http = new GuardedFetch({ fetch: undefined, readTimeoutMs: 1_000 })
  const track = http.track.bind(http)
  http.track = (headers, end) => {
    onEnd = end
    return track(headers, end)
  }
  const callTool = (_: unknown, options: { signal: AbortSignal; onprogress: typeof onprogress }): Promise<unknown> => {
    onprogress = options.onprogress
    options.signal.addEventListener('abort', () => reject(new Error('cancelled')))
    return promise
  }
  const call = new ServerCall({
    connection: { http, isHttp: true, begin: () => ended, client: { callTool } } as unknown as McpConnection,
    tool: { name: 'slow' } as ServerTool,
    params: { arguments: {} },
    userKey: 'ada',
    timeoutMs,
    headers: undefined,
    onProgress: (value) => seen.push(value),
    sample: () => Promise.reject(new Error('off')),
  })
  return { call, ended, seen, answer: resolve, progress: (value) => onprogress(value), endResponse: () => onEnd() }
}

test('returns the result, and leaves no timer', async () => {
  const { call, answer, ended } = start()
  answer({ content: [] })
  expect(await call.next()).toEqual({ type: 'result', result: { content: [] } })
  expect(ended).toHaveBeenCalledWith(true)
  expect(vi.getTimerCount()).toBe(0)
})

test('times out without progress, and progress extends the time', async () => {
  const { call, progress, ended } = start()
  const failed = expect(call.next()).rejects.toThrow('timed out after 1000 ms without progress')
  await vi.advanceTimersByTimeAsync(900)
  progress({ progress: 1 })
  await vi.advanceTimersByTimeAsync(900)
  expect(ended).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(101)
  await failed
  expect(ended).toHaveBeenCalledWith(false)
  expect(vi.getTimerCount()).toBe(0)
})

test('shows only the known members of progress', () => {
  const { seen, progress } = start()
  progress({ progress: 1, total: 2, message: 'm', tool: 'forged', _meta: {} })
  expect(seen).toEqual([{ progress: 1, total: 2, message: 'm' }])
})

test('does not time out while a human answers', async () => {
  const { call, answer } = start()
  const asked = call.elicit(params, new AbortController().signal)
  expect(await call.next()).toMatchObject({ type: 'elicitation' })
  await vi.advanceTimersByTimeAsync(100_000)
  call.answer({ action: 'accept', content: {} })
  expect(await asked).toEqual({ action: 'accept', content: {} })
  answer('done')
  expect(await call.next()).toEqual({ type: 'result', result: 'done' })
})

test('a question that the server takes back at once is no question', async () => {
  const { call, answer } = start()
  const next = call.next()
  const abort = new AbortController()
  const asked = call.elicit(params, abort.signal)
  abort.abort()
  expect(await asked).toEqual({ action: 'cancel' })
  answer('done')
  expect(await next).toEqual({ type: 'result', result: 'done' })
})

test('declines a second question at the same time', async () => {
  const { call } = start()
  void call.elicit(params, new AbortController().signal)
  expect(await call.elicit(params, new AbortController().signal)).toEqual({ action: 'decline' })
})

test('an aborted call cancels its question', async () => {
  const { call } = start()
  const asked = call.elicit(params, new AbortController().signal)
  call.abort(new Error('stopped'))
  expect(await asked).toEqual({ action: 'cancel' })
  expect(vi.getTimerCount()).toBe(0)
})

test('an answer after the end of the call starts no timer', async () => {
  const { call, answer } = start()
  void call.elicit(params, new AbortController().signal)
  answer('done')
  await vi.advanceTimersByTimeAsync(0)
  call.answer({ action: 'decline' })
  expect(vi.getTimerCount()).toBe(0)
})

test('fails soon after a response that ended without an answer, but not if the answer was in it', async () => {
  const lost = start(60_000)
  const failed = expect(lost.call.next()).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
  lost.endResponse()
  await vi.advanceTimersByTimeAsync(AFTER_RESPONSE_MS)
  await failed
  const answered = start(60_000)
  answered.endResponse()
  answered.answer('done')
  expect(await answered.call.next()).toEqual({ type: 'result', result: 'done' })
})
