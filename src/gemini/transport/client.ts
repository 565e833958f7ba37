import type { GoogleGenAI } from '@google/genai'
import { peer } from '../../error/peer.ts'
import type { Settings } from '../settings.ts'

/** The client of a model, made when it is first needed: the package is not there before. */
export function lazyClient({ access }: Settings): () => Promise<GoogleGenAI> {
  if ('client' in access) return () => Promise.resolve(access.client)
  let made: GoogleGenAI | undefined
  return async () => {
    const { GoogleGenAI } = await peer('@google/genai', () => import('@google/genai'))
    made ??= new GoogleGenAI(copyOptions(access.options))
    return made
  }
}

// the client writes into what it is given
function copyOptions<T extends { httpOptions?: object }>(options: T): T {
  return options.httpOptions ? { ...options, httpOptions: { ...options.httpOptions } } : options
}
