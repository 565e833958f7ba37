import type { Event, SessionService } from 'toolwright'
import type { AppendOptions, Lease, NewEntry, PostedItem } from 'toolwright/store'
import type { KillPoint } from '../kill-points.ts'
import type { Killer } from './killer.ts'
import { inMethod } from './watch-statements.ts'

const watchedMethods = new Set<string | symbol>([
  'createSession',
  'claim',
  'read',
  'append',
  'inbox',
  'renew',
  'release',
])

/** A session service whose methods bring the process to its kill points. */
export function withKillPoints(service: SessionService, killer: Killer): SessionService {
  return new Proxy(service, {
    get(target, member) {
      const method: unknown = Reflect.get(target, member)
      if (typeof method !== 'function') return method
      const call = (...args: unknown[]): unknown => Reflect.apply(method, target, args)
      if (!watchedMethods.has(member)) return call
      return async (...args: unknown[]) => {
        killer.step()
        const result: unknown = await inMethod(String(member), () => call(...args))
        for (const point of pointsAfter(member, args, result)) killer.reach(point)
        killer.step()
        return result
      }
    },
  })
}

/** The points that a process has come to when a method has returned. */
function pointsAfter(member: string | symbol, args: readonly unknown[], result: unknown): readonly KillPoint[] {
  if (member === 'inbox') return (result as readonly PostedItem[]).length > 0 ? ['c13'] : []
  if (member !== 'append') return []
  const [, , entries] = args as readonly [Lease, number, readonly NewEntry[], AppendOptions?]
  return entries.flatMap(({ event, record }) => {
    if (event) return pointsAfterEvent(event)
    return record.type === 'intent' ? ['c5'] : record.type === 'request' ? ['c10'] : []
  })
}

function pointsAfterEvent({ author, content }: Event): readonly KillPoint[] {
  const parts = content?.parts ?? []
  const isOfUser = author === 'user'
  if (parts.some(({ functionResponse }) => functionResponse)) return [isOfUser ? 'c11' : 'c9']
  if (isOfUser) return parts.length > 0 ? ['c1'] : []
  return parts.some(({ functionCall }) => functionCall && !functionCall.name.startsWith('adk_')) ? ['c4'] : []
}
