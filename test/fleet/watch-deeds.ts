// Tells what a worker does with sessions.
import type { SessionService } from 'toolwright'
import type { Deed } from './recovery-times.ts'

/** Something that a worker has done with a session. */
export interface SessionDeed {
  readonly session: string
  readonly deed: Deed
}

type SessionName = { readonly appName: string; readonly sessionId: string }

const DEEDS: ReadonlyMap<string | symbol, Deed> = new Map([
  ['claim', 'claimed'],
  ['append', 'appended'],
  ['release', 'released'],
])

/** A session service that tells what was done, once it is done. */
export function watchDeeds(service: SessionService, tell: (deed: SessionDeed) => void): SessionService {
  return new Proxy(service, {
    get(target, member) {
      const method: unknown = Reflect.get(target, member)
      if (typeof method !== 'function') return method
      const deed = DEEDS.get(member)
      if (!deed) return method.bind(target)
      return async (...args: readonly unknown[]) => {
        const result: unknown = await Reflect.apply(method, target, args)
        const [given] = args as readonly [SessionName | { readonly key: SessionName }] // the first argument of these methods
        const { appName, sessionId } = 'key' in given ? given.key : given
        tell({ session: `${appName} ${sessionId}`, deed })
        return result
      }
    },
  })
}
