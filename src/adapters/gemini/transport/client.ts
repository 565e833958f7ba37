import type { GoogleGenAI } from '@google/genai'
import { loadPeer } from '../../../core/error/load-peer.ts'
import type { Settings } from '../settings.ts'

/** Returns a function that creates the client on its first call: `@google/genai` is only loaded then. */
export function lazyClient({ access }: Pick<Settings, 'access'>): () => Promise<GoogleGenAI> {
  if ('client' in access) return () => Promise.resolve(access.client)
  let client: GoogleGenAI | undefined
  return async () => {
    const { GoogleGenAI } = await loadPeer('@google/genai', () => import('@google/genai'))
    client ??= new GoogleGenAI(copyOptions(access.options))
    return client
  }
}

// the client changes the options object it gets
function copyOptions<T extends { httpOptions?: object }>(options: T): T {
  return options.httpOptions ? { ...options, httpOptions: { ...options.httpOptions } } : options
}
