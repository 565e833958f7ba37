import { expect, test } from 'vitest'
import { boundResponse } from './bounded-response.ts'

test('a stream of events that is always ready lets timers run', async () => {
  const event = new TextEncoder().encode('data: {}\n\n'.repeat(100))
  const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(event) })
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  const bounded = boundResponse(response, { readTimeoutMs: undefined, abandoned: undefined, onEnd: () => {} })
  let isStopped = false
  setTimeout(() => {
    isStopped = true
  }, 0)
  let chunks = 0
  for await (const _ of bounded.body as unknown as AsyncIterable<Uint8Array>)
    if (isStopped || ++chunks === 1_000_000) break
  expect(isStopped).toBe(true)
})
