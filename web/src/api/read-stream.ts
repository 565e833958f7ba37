import { ApiError, readApiError } from './api-error.ts'
import { type RequestOptions, send } from './request.ts'

/** Options of a stream. */
export interface StreamOptions extends RequestOptions {
  /** Called with the headers, before the first item. */
  readonly onHeaders?: ((headers: Headers) => void) | undefined
}

/** Requests a stream of server-sent events and yields the JSON of each. An error frame is thrown. */
export async function* readStream<T>(path: string, options: StreamOptions = {}): AsyncGenerator<T, void, void> {
  const { onHeaders, ...request } = options
  const response = await send(path, { ...request, accept: 'text/event-stream' })
  onHeaders?.(response.headers)
  if (!response.body) throw new ApiError('The server sent no stream.')
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        if (options.signal?.aborted) throw cause
        throw new ApiError('The connection to the server broke off.', { code: 'DISCONNECTED', cause })
      })
      if (done) return
      rest += value
      const frames = rest.split('\n\n')
      rest = frames.pop() ?? ''
      for (const frame of frames) {
        const data = dataOf(frame)
        if (data === '') continue
        const item: unknown = JSON.parse(data)
        const error = readApiError(item, response.status)
        if (error) throw error
        yield item as T // written by the server of this page
      }
    }
  } finally {
    await reader.cancel().catch(() => {}) // already closed, or aborted
  }
}

/** The data of a frame. Comments, which keep the connection open, have none. */
function dataOf(frame: string): string {
  return frame
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trimStart())
    .join('\n')
}
