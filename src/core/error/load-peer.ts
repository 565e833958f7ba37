import { messageOf, ToolwrightError } from './error.ts'

/**
 * Loads an optional peer dependency. Throws MISSING_PEER with the install command if it is not installed.
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

/** Throws one MISSING_PEER that names all packages which are not installed, so that one command installs them. */
export async function requirePeers(peers: { readonly [name: string]: () => Promise<unknown> }): Promise<void> {
  const missing: string[] = []
  for (const [name, load] of Object.entries(peers)) {
    await loadPeer(name, load).catch((error: unknown) => {
      if (!(error instanceof ToolwrightError) || error.code !== 'MISSING_PEER') throw error
      missing.push(name)
    })
  }
  if (missing.length === 0) return
  const subject = missing.map((name) => `"${name}"`).join(', ')
  const verb = missing.length === 1 ? 'is' : 'are'
  throw new ToolwrightError('MISSING_PEER', `${subject} ${verb} not installed. Run: npm i ${missing.join(' ')}`)
}

/**
 * Loads an optional peer dependency of an entry point that works without it. Bundlers resolve every literal `import()` and
 * fail if the package is not installed. They do not see this import, which resolves the package at run time.
 */
export function loadPeerByName(name: string): Promise<unknown> {
  const load = (): Promise<unknown> =>
    import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ name)
  return loadPeer(packageOf(name), load)
}

/** The package of an entry point: `@scope/name` of `@scope/name/part`. */
function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Was the package itself not found? A missing import of the package is a different error. */
function isMissing(cause: unknown, name: string): boolean {
  const code = (cause as { code?: unknown } | null)?.code
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') return false
  const message = messageOf(cause)
  return message.includes(`'${name}'`) || message.includes(`'${name}/`)
}
