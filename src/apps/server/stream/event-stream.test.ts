import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ServerEnv, ServerParts } from '../env.ts'
import { errorResponse } from '../errors/error-response.ts'
import { RunSlots } from '../guard/run-slots.ts'
import { Metrics } from '../health/metrics.ts'
import { DEFAULT_LIMITS, type ServerLimits } from '../server-options.ts'
import { eventStream, type StreamSource } from './event-stream.ts'

const LIMITS = { ...DEFAULT_LIMITS, streamBufferBytes: 10_000, streamStallMs: 20 }

/** A server with one stream. `slots` counts its runs. */
function serve(source: Partial<StreamSource> & Pick<StreamSource, 'frames'>, limits: Partial<ServerLimits> = {}) {
  const logged: string[] = []
  const logger = { warn: () => {}, error: (message: string) => void logged.push(message) }
  // the stream uses no other parts
  const parts = { limits: { ...LIMITS, ...limits }, logger, metrics: new Metrics() } as unknown as ServerParts
  const slots = new RunSlots(1)
  const app = new Hono<ServerEnv>()
  app.onError((error, context) => errorResponse(error, context, parts))
  app.get('/', (context) => {
    context.set('correlationId', 'c1')
    context.set('runSlot', slots.take('ada'))
    return eventStream(context, parts, { onDisconnect: () => {}, ...source })
  })
  return { fetch: (init: RequestInit = {}) => app.request('/', init), logged, slots, metrics: parts.metrics }
}

async function* numbers(count: number, size = 0): AsyncGenerator<object> {
  for (let n = 1; n <= count; n++) yield { n, filler: 'x'.repeat(size) }
}

async function* failing(error: Error, after: number): AsyncGenerator<object> {
  yield* numbers(after)
  throw error
}

test('sends each frame as one chunk of data, then ends and frees its run slot', async () => {
  const { fetch, slots } = serve({ frames: numbers(3) })
  const response = await fetch()
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.headers.get('cache-control')).toBe('no-store, no-transform')
  expect(slots.total).toBe(1)
  const chunks: string[] = []
  for await (const chunk of response.body ?? []) chunks.push(new TextDecoder().decode(chunk))
  expect(chunks).toEqual([1, 2, 3].map((n) => `data: {"n":${n},"filler":""}\n\n`))
  expect(slots.total).toBe(0)
})

test('an error before the first frame is the response; a later one is a frame without its reason', async () => {
  const busy = new ToolwrightError('SESSION_BUSY', 'The session is busy.')
  const early = await serve({ frames: failing(busy, 0) }).fetch({ headers: { accept: 'text/event-stream' } })
  expect(early.status).toBe(409)
  expect(await early.text()).toBe(
    'data: {"error":"The session is busy.","errorCode":"SESSION_BUSY","correlationId":"c1"}\n\n',
  )
  const { fetch, logged } = serve({ frames: failing(new Error('select * from secrets at /srv/app.ts'), 1) })
  const late = await fetch()
  expect(late.status).toBe(200)
  const [, frame] = (await late.text()).split('\n\n')
  expect(frame).toContain('"errorCode":"INTERNAL","correlationId":"c1"')
  expect(frame).not.toMatch(/secrets|srv/)
  expect(logged).toEqual(['Request c1 failed: select * from secrets at /srv/app.ts'])
})

test('a reader that stalls is detached, and the source is read to its end with a bounded buffer', async () => {
  let read = 0
  const counted = async function* (): AsyncGenerator<object> {
    for await (const frame of numbers(200, 1_000)) {
      read++
      yield frame
    }
  }
  const { fetch, slots, metrics } = serve({ frames: counted() })
  const response = await fetch()
  await expect.poll(() => slots.total).toBe(0)
  expect(read).toBe(200)
  await expect(response.text()).rejects.toThrow('too slow')
  expect(await metrics.write([])).toContain('toolwright_stream_detaches_total 1')
})

test('a reader that reads gets everything, also if it is far more than the buffer holds', async () => {
  const { fetch } = serve({ frames: numbers(200, 1_000) })
  expect((await (await fetch()).text()).split('\n\n')).toHaveLength(201)
  const large = serve({ frames: numbers(3, 50_000) })
  expect((await (await large.fetch()).text()).split('\n\n')).toHaveLength(4)
})

test('a client that leaves is reported once, before and after the response starts', async () => {
  const left: string[] = []
  const open = Promise.withResolvers<void>()
  const endless = async function* (): AsyncGenerator<object> {
    yield { n: 1 }
    await open.promise
  }
  const onDisconnect = (): void => {
    left.push('left')
    open.resolve()
  }
  const { fetch, slots } = serve({ frames: endless(), onDisconnect })
  const response = await fetch()
  await response.body?.cancel()
  await expect.poll(() => slots.total).toBe(0)
  expect(left).toEqual(['left'])

  const aborted = AbortSignal.abort()
  await serve({ frames: numbers(1), onDisconnect }).fetch({ signal: aborted })
  expect(left).toEqual(['left', 'left'])
})

test('a client that leaves after the source has ended, but before it has read everything, stops nothing', async () => {
  let left = 0
  const { fetch, slots } = serve({ frames: numbers(3), onDisconnect: () => left++ })
  const response = await fetch()
  await expect.poll(() => slots.total).toBe(0)
  await response.body?.cancel()
  expect(left).toBe(0)
})
