// The client buffers a line until it is complete, however long it is. This limits the body of a response.

/** Size up to which an incomplete line is passed on. The client searches its whole buffer with each chunk it gets. */
const MAX_INCOMPLETE_LINE = 256 * 1024

/** A response whose body fails after `maxBytes`. A long line is passed on only when it is complete. */
export function limitBody(response: Response, maxBytes: number, onTooLarge: () => void): Response {
  const { body, status } = response
  if (!(body instanceof ReadableStream) || status < 200 || status > 599) return response
  let bytes = 0
  let lineBytes = 0
  let held: Uint8Array[] = []
  const limited = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length
      if (bytes > maxBytes) {
        held = []
        onTooLarge()
        throw new Error(`The response has more than ${maxBytes} bytes.`)
      }
      const lineEnd = Math.max(chunk.lastIndexOf(LF), chunk.lastIndexOf(CR)) + 1
      lineBytes = lineEnd > 0 ? chunk.length - lineEnd : lineBytes + chunk.length
      held.push(chunk)
      if (lineEnd === 0 && lineBytes > MAX_INCOMPLETE_LINE) return
      controller.enqueue(concatBytes(held))
      held = []
    },
    flush(controller) {
      if (held.length) controller.enqueue(concatBytes(held))
    },
  })
  return new Response(body.pipeThrough(limited), response)
}

const LF = 10
const CR = 13

function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks
  if (only && chunks.length === 1) return only
  const whole = new Uint8Array(chunks.reduce((bytes, chunk) => bytes + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
