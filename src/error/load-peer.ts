import { messageOf, ToolwrightError } from './error.ts'

/**
 * Loads an optional peer, or says which command installs it.
 *
 * @example
 * const { GoogleGenAI } = await peer('@google/genai', () => import('@google/genai'))
 */
export async function loadPeer<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause
    throw new ToolwrightError('MISSING_PEER', `"${name}" is not installed. Run: npm i ${name}`, { cause })
  }
}

/**
 * Loads an optional peer of an entry point that works without it. Bundlers resolve every literal `import()`, and fail on a
 * package that is not installed: here they see none, and the package is looked up when it is needed.
 */
export function loadPeerByName(name: string): Promise<unknown> {
  return loadPeer(name, () => import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ name))
}

/** The package itself was not found; one of its own imports missing is another matter. */
function isMissing(cause: unknown, name: string): boolean {
  const code = (cause as { code?: unknown } | null)?.code
  return (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && messageOf(cause).includes(`'${name}'`)
}
