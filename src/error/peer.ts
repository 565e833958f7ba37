import { messageOf, ToolwrightError } from './error.ts'

/**
 * Loads an optional peer, or says which command installs it.
 *
 * @example
 * const { GoogleGenAI } = await peer('@google/genai', () => import('@google/genai'))
 */
export async function peer<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause
    throw new ToolwrightError('MISSING_PEER', `"${name}" is not installed. Run: npm i ${name}`, { cause })
  }
}

/** The package itself was not found; one of its own imports missing is another matter. */
function isMissing(cause: unknown, name: string): boolean {
  const code = (cause as { code?: unknown } | null)?.code
  return (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && messageOf(cause).includes(`'${name}'`)
}
