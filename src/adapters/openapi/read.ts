import { messageOf, ToolwrightError } from '../../core/error/error.ts'

/** Reads a text file of at most `maxBytes` bytes. Throws INVALID_CONFIG. */
export async function readTextFile(path: string | URL, maxBytes: number): Promise<string> {
  try {
    // not imported: bundlers for browsers and workers would fail
    const { open } = process.getBuiltinModule('node:fs/promises')
    await using file = await open(path, 'r')
    const stats = await file.stat()
    if (!stats.isFile()) throw new Error('it is not a file')
    if (stats.size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`)
    // Reads no more than the limit, also if the file grows in the meantime.
    const bytes = new Uint8Array(stats.size)
    let length = 0
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length))
  } catch (cause) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `The OpenAPI document cannot be read from "${String(path)}": ${messageOf(cause)}. A text without a line break that is not a JSON object is taken as a path.`,
      { cause },
    )
  }
}
