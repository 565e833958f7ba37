// Reads documents from files. The only file of this folder that needs Node.
import { ToolwrightError } from '../error/error.ts'

const MAX_BYTES = 50 * 1024 * 1024

/** The text of a document in a file. Throws INVALID_CONFIG if it cannot be read. */
export async function readSpecFile(path: string): Promise<string> {
  const { readFile, stat } = await import('node:fs/promises')
  try {
    const { size } = await stat(path)
    if (size <= MAX_BYTES) return await readFile(path, 'utf8')
  } catch (error) {
    throw new ToolwrightError('INVALID_CONFIG', `The document "${path}" cannot be read. Check specPath.`, {
      cause: error,
    })
  }
  throw new ToolwrightError('INVALID_CONFIG', `The document "${path}" has more than ${MAX_BYTES} bytes.`)
}
