import { expect, test, vi } from 'vitest'
import { MAX_MESSAGE_BYTES, MAX_OPEN_RESPONSES, MAX_STREAMS_PER_MINUTE } from '../limits.ts'
import { GuardedFetch } from './guarded-fetch.ts'

const url = 'http://127.0.0.1:9/mcp'
const post = { method: 'POST' }

function guarded(answer: () => Response, readTimeoutMs = 1_000): { http: GuardedFetch; sent: Headers[] } {
  const sent: Headers[] = []
  const fetch = (async (_: unknown, init?: RequestInit) => {
    sent.push(new Headers(init?.headers))
    return answer()
  }) as typeof globalThis.fetch
  return { http: new GuardedFetch({ fetch, readTimeoutMs }), sent }
}

function streamOf(...chunks: (string | undefined)[]): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) {
        if (chunk === undefined) return // stays open
        controller.enqueue(encoder.encode(chunk))
      }
      controller.close()
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

test('adds the headers of the connection and of one request, and never sends the name of the request', async () => {
  const { http, sent } = guarded(() => new Response('{}'))
  http.setHeaders({ authorization: 'Bearer all', 'x-all': '1' })
  const one = http.track({ authorization: 'Bearer one' }, () => {})
  const two = http.track({ authorization: 'Bearer two' }, () => {})
  await Promise.all([
    http.fetch(url, { ...post, headers: two.headers }),
    http.fetch(url, { ...post, headers: one.headers }),
    http.fetch(url, post),
  ])
  expect(sent.map((headers) => headers.get('authorization'))).toEqual(['Bearer two', 'Bearer one', 'Bearer all'])
  for (const headers of sent) {
    expect(headers.get('x-all')).toBe('1')
    expect([...headers.keys()].join()).not.toContain('toolwright')
  }
})

test.each([
  [401, undefined, true],
  [401, 'Bearer', true],
  [403, 'Bearer error="insufficient_scope"', true],
  [403, undefined, false],
  [500, undefined, false],
])('status %i with the challenge %s is a refusal: %s', async (status, challenge, isRefusal) => {
  const { http } = guarded(
    () => new Response('', { status, headers: challenge ? { 'www-authenticate': challenge } : {} }),
  )
  await http.fetch(url, post)
  expect(http.hasRefusal).toBe(isRefusal)
  expect(http.takeRefusal()).toEqual(isRefusal ? { status, challenge } : undefined)
  expect(http.hasRefusal).toBe(false)
})

test('fails when a server sends nothing for too long, and not on a stream of events', async () => {
  vi.useFakeTimers()
  try {
    const { http } = guarded(() => streamOf('data: 1\n\n', undefined))
    const reading = (await http.fetch(url, post)).text()
    const failed = expect(reading).rejects.toThrow('sent nothing for 1000 ms')
    await vi.advanceTimersByTimeAsync(1_001)
    await failed
    let hasEnded = false
    const stream = (await http.fetch(url, { method: 'GET' })).text()
    stream.then(
      () => (hasEnded = true),
      () => (hasEnded = true),
    )
    await vi.advanceTimersByTimeAsync(100_000)
    expect(hasEnded).toBe(false)
  } finally {
    vi.useRealTimers()
  }
})

test('fails when one message is too large, also in many lines, and not when many are large together', async () => {
  const line = `data: ${'x'.repeat(1_000_000)}\n`
  const count = Math.ceil(MAX_MESSAGE_BYTES / line.length)
  const { http } = guarded(() => streamOf(...Array(count).fill(line)))
  await expect((await http.fetch(url, post)).text()).rejects.toThrow('sent more than')
  const many = guarded(() => streamOf(...Array(count).fill(`${line}\n`)))
  expect((await (await many.http.fetch(url, post)).text()).length).toBeGreaterThan(MAX_MESSAGE_BYTES)
})

test('reports the end of a tracked response, unless it can be resumed or was only accepted', async () => {
  const cases: [Response, number][] = [
    [streamOf('data: 1\n\n'), 1],
    [streamOf('id: 1\ndata: 1\n\n'), 0],
    [new Response(null, { status: 202 }), 0],
  ]
  for (const [answer, ends] of cases) {
    const { http } = guarded(() => answer)
    const onEnd = vi.fn()
    const { headers } = http.track({}, onEnd)
    await (await http.fetch(url, { ...post, headers })).text()
    expect(onEnd).toHaveBeenCalledTimes(ends)
  }
})

test('closes the response of a request that is done', async () => {
  const cancel = vi.fn()
  const { http } = guarded(() => new Response(new ReadableStream({ cancel })))
  const { headers, done } = http.track({}, () => {})
  await http.fetch(url, { ...post, headers })
  done()
  expect(cancel).toHaveBeenCalledOnce()
})

test('sends nothing more while a server holds too many responses open', async () => {
  const { http, sent } = guarded(() => streamOf(undefined))
  for (let at = 0; at < MAX_OPEN_RESPONSES; at++) await http.fetch(url, post)
  await expect(http.fetch(url, post)).rejects.toThrow(`holds ${MAX_OPEN_RESPONSES} responses open`)
  expect(sent).toHaveLength(MAX_OPEN_RESPONSES)
})

test('opens streams of events at most so often within a minute', async () => {
  const { http } = guarded(() => streamOf())
  for (let at = 0; at < MAX_STREAMS_PER_MINUTE; at++) await (await http.fetch(url, { method: 'GET' })).text()
  await expect(http.fetch(url, { method: 'GET' })).rejects.toThrow('streams within a minute')
  await expect(http.fetch(url, post)).resolves.toBeDefined()
})
