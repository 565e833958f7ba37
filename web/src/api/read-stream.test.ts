import { afterEach, expect, test, vi } from 'vitest'
import { ApiError } from './api-error.ts'
import { readStream } from './read-stream.ts'

afterEach(() => vi.unstubAllGlobals())

/** The items of a stream that arrives in these pieces. */
async function read(pieces: readonly string[], status = 200): Promise<unknown[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
      controller.close()
    },
  })
  vi.stubGlobal('fetch', async () => new Response(body, { status }))
  const items: unknown[] = []
  for await (const item of readStream('/x')) items.push(item)
  return items
}

test('yields the JSON of each frame, wherever the network cuts it', async () => {
  const text = 'data: {"a":"x\\n\u2028"}\n\n: keep-alive\n\ndata: {"b":2}\n\n'
  for (let at = 1; at < text.length; at++)
    expect(await read([text.slice(0, at), text.slice(at)])).toEqual([{ a: 'x\n\u2028' }, { b: 2 }])
})

test('throws the error of a frame with its code', async () => {
  const error = await read([
    'data: {"a":1}\n\ndata: {"error":"Busy.","errorCode":"SESSION_BUSY","correlationId":"c"}\n\n',
  ]).catch((one) => one)
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ message: 'Busy.', code: 'SESSION_BUSY', correlationId: 'c' })
})

test('throws the error of a refused request, as JSON or as a frame', async () => {
  const body = '{"error":"Paused.","errorCode":"PAUSED"}'
  for (const text of [body, `data: ${body}\n\n`])
    expect(await read([text], 409).catch((one) => one)).toMatchObject({ status: 409, code: 'PAUSED' })
  expect(await read(['<html>'], 502).catch((one) => one)).toMatchObject({ status: 502, code: 'INTERNAL' })
})
