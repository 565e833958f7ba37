// What one response may hold. The client reads a body to its end and keeps a line until it is complete, however long.

/** Bytes of a line the client gets piece by piece; it searches all it holds with each piece. */
const MAX_OPEN_LINE = 256 * 1024

/** The response, whose body fails after `most` bytes. A long line is passed on when it is complete. */
export function limitBody(response: Response, most: number, onTooLarge: () => void): Response {
  const { body, status } = response
  if (!(body instanceof ReadableStream) || status < 200 || status > 599) return response
  let bytes = 0
  let openBytes = 0
  let held: Uint8Array[] = []
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      bytes += piece.length
      if (bytes > most) {
        held = []
        onTooLarge()
        throw new Error(`The response has more than ${most} bytes.`)
      }
      const lineEnd = Math.max(piece.lastIndexOf(LF), piece.lastIndexOf(CR)) + 1
      openBytes = lineEnd > 0 ? piece.length - lineEnd : openBytes + piece.length
      held.push(piece)
      if (lineEnd === 0 && openBytes > MAX_OPEN_LINE) return
      controller.enqueue(concatBytes(held))
      held = []
    },
    flush(controller) {
      if (held.length) controller.enqueue(concatBytes(held))
    },
  })
  return new Response(body.pipeThrough(bounded), response)
}

const LF = 10
const CR = 13

function concatBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces
  if (only && pieces.length === 1) return only
  const whole = new Uint8Array(pieces.reduce((bytes, piece) => bytes + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
