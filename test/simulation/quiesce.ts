// Stops all faults, resumes everything and answers every request. After that, all work must be finished.
import type { InMemorySessionService } from 'toolwright'
import type { Clients } from './clients.ts'
import { properAnswer } from './next-action.ts'
import { APP, type Site } from './process.ts'
import type { Random } from './random.ts'
import { LAST_TURN, turnText } from './script-model.ts'

const MOST_ROUNDS = 60
const MOST_STEPS = 30_000

/** The slot of a process without faults. */
const FRESH = 9

/** The number of the first copy that is made at the end. */
const LAST_COPY = 100

/** Returns the work that is still unfinished. */
export async function quiesce(
  { plan, world, faults, copies }: Site,
  store: InMemorySessionService,
  clients: Clients,
  random: Random,
): Promise<string[]> {
  let steps = 0
  /** Runs tasks until none is left. */
  const rest = async (): Promise<boolean> => {
    for (; steps < MOST_STEPS; steps++) {
      await world.settle()
      if (!world.step()) return true
    }
    return false
  }
  const stuck = (why: string): string[] => [
    why,
    ...clients.actions.flatMap((one) => (one.outcome === 'open' ? [one.says] : [])),
  ]
  for (let round = 0; round < plan.restless + MOST_ROUNDS; round++) {
    if (round === plan.restless) {
      world.note('faults end')
      faults.areOver = true
      clients.wakeAll()
      world.pass(60_000) // late calls arrive
    }
    if (!(await rest())) return stuck('what was under way never came to rest')
    world.pass(20_000) // leases of dead processes end
    clients.do({ type: 'recover', slot: FRESH })
    if (!(await rest())) return stuck('recover never came to rest')
    const open = await goOn()
    if (open.length > 0 || !faults.areOver) {
      if (round === plan.restless + MOST_ROUNDS - 1) return open
      continue
    }
    if (clients.areWaiting) return stuck('clients wait although nothing is unfinished')
    return await nextTurn()
  }
  return ['unreachable']

  /** Resumes every session and answers every request. Returns the work that was unfinished before. */
  async function goOn(): Promise<string[]> {
    const open: string[] = []
    for (const where of plan.sessions) {
      clients.do({ type: 'resume', slot: FRESH, where })
      if (!(await rest())) return stuck('resume never came to rest')
      const { error, outcome } = clients.actions.at(-1) ?? {}
      if (error?.code !== 'NOT_FOUND') open.push(`${where.sessionId}: resume ${outcome} ${error?.message ?? ''}`)
      for (const request of await store.pending({ appName: APP, ...where })) {
        clients.do(properAnswer(random, FRESH, request))
        if (!(await rest())) return stuck('an answer never came to rest')
        const last = clients.actions.at(-1)
        if (last?.error && last.error.code !== 'EXPIRED') open.push(`${last.says}: ${last.error.message}`)
      }
    }
    return open
  }

  /** Sends one more message to every session: a finished session must accept it. */
  async function nextTurn(): Promise<string[]> {
    const failed: string[] = []
    for (const where of plan.sessions) {
      clients.do({ type: 'say', slot: FRESH, where, message: turnText(LAST_TURN), streaming: false, completes: false })
      await rest()
      const last = clients.actions.at(-1)
      if (last?.outcome !== 'ended') failed.push(`the next message ${last?.outcome}: ${last?.error?.message ?? ''}`)
    }
    if (plan.copies) {
      for (const [at, where] of plan.sessions.entries())
        clients.do({ type: 'copy rows', where, at: 1, to: `copy${LAST_COPY + at}` })
      await rest()
      clients.do({ type: 'recover', slot: FRESH })
      if (!(await rest())) return stuck('recover of copied rows never came to rest')
    }
    for (const { kind, session } of copies) {
      const [userId = '', sessionId = ''] = session.split('/')
      if (kind === 'rows' || !(await store.getSession({ appName: APP, userId, sessionId }))) continue
      clients.do({ type: 'resume', slot: FRESH, where: { userId, sessionId } })
      await rest()
      const { outcome, error } = clients.actions.at(-1) ?? {}
      if (error?.code !== 'NOT_FOUND') failed.push(`${session} is a copy, and resume ${outcome} there`)
    }
    const isOfCopiedRows = (one: { userId: string; sessionId: string }): boolean =>
      copies.some(({ kind, session }) => kind === 'rows' && session === `${one.userId}/${one.sessionId}`)
    const pending = (await store.pending({ appName: APP })).filter((one) => !isOfCopiedRows(one))
    const interrupted = (await store.interrupted({ appName: APP })).filter((one) => !isOfCopiedRows(one))
    return [
      ...failed,
      ...pending.map(({ id }) => `${id} is listed as waited for, and nothing is unfinished`),
      ...interrupted.map(({ sessionId }) => `${sessionId} is listed as interrupted, and nothing is unfinished`),
    ]
  }
}
