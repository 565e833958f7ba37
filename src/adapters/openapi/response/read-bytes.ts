/** Thrown for a response with more bytes than allowed. */
export class TooLargeError extends Error {}

/**
 * Reads the decoded bytes of a response. Stops at `maxBytes`: throws `TooLargeError`, or returns the first bytes if `cut` is
 * set. Closes the connection in both cases.
 */
export async function readBytes(
  response: Response,
  maxBytes: number,
  options: { readonly cut?: boolean } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  if (!response.body) return new Uint8Array()
  const reader = response.body.getReader()
  try {
    const chunks: Uint8Array[] = []
    let length = 0
    // the header counts bytes before decoding, which are rarely more
    const announced = Number(response.headers.get('content-length') ?? 0)
    if (announced > maxBytes && !options.cut) throw new TooLargeError()
    while (length <= maxBytes) {
      const { done, value } = await reader.read()
      if (done) return join(chunks, length)
      chunks.push(value)
      length += value.length
    }
    if (options.cut) return join(chunks, length).slice(0, maxBytes)
    throw new TooLargeError()
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
