// The agent of a shape. Its calls depend only on its history, so that a new process continues where the killed one stopped.
import { type Agent, agentTool, LlmAgent, Runner, type SessionService } from 'toolwright'
import type { Shape } from '../kill-points.ts'
import type { LedgerClient } from '../ledger/ledger-client.ts'
import type { LedgerLine } from '../ledger/ledger-line.ts'
import { type OpenStore, openStore } from '../open-store.ts'
import { toolNames } from '../tool-names.ts'
import type { Killer } from './killer.ts'
import { textModel } from './models.ts'
import { payingTools } from './tools.ts'
import { withKillPoints } from './with-kill-points.ts'

/** A session that a process works on. */
export interface DeskOptions {
  /** The app. Each session has its own, so that `recover()` finds nothing else. */
  readonly app: string
  readonly shape: Shape
  /** What `openStore()` takes. */
  readonly store: string
  /** Does the session begin with a long history? Default: no. */
  readonly hasHistory?: boolean | undefined
  /** How far the clock of the runner is ahead. The time of a background call whose process has died is over then. */
  readonly aheadMs?: number | undefined
  /** Does nothing edit the state while a body runs? Default: another process does. */
  readonly isLeftAlone?: boolean | undefined
}

/** A session with its runner, and the world outside. */
export interface Desk extends DeskOptions {
  readonly userId: 'ada'
  readonly sessionId: 's1'
  readonly runner: Runner
  readonly killer: Killer
  /** The store as another process sees it, without kill points. */
  readonly outside: SessionService
  /** What the runner has reported to its operator. */
  readonly errors: readonly string[]
  /** Writes a line to the ledger. */
  note(line: DistributiveOmit<LedgerLine, 'app' | 'sessionId'>): Promise<{ readonly isNew: boolean }>
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** What the desks of a process share. */
export interface Surroundings {
  readonly ledger: LedgerClient
  readonly killer: Killer
  /** The store of all desks. Default: each opens its own. */
  readonly services?: OpenStore | undefined
}

/** Opens the store and makes the runner of a session. */
export function openDesk(options: DeskOptions, { ledger, killer, services: shared }: Surroundings): Desk {
  const { app, store, aheadMs = 0 } = options
  const services: OpenStore = shared ?? openStore(store, { leaseMs: 1_000 })
  const session = { userId: 'ada', sessionId: 's1' } as const
  const outside = services.sessionService
  const note: Desk['note'] = async (line) => {
    killer.step()
    return await ledger.write({ ...line, app, sessionId: session.sessionId })
  }
  const errors: string[] = []
  const part = { ...options, ...session, killer, outside, errors, note }
  const runner = new Runner({
    ...services,
    appName: app,
    agent: createAgent(part),
    sessionService: withKillPoints(outside, killer),
    ports: { now: () => Date.now() + aheadMs, monotonicNow: () => performance.now() },
    logger: { warn: () => {}, error: (message) => errors.push(message) },
  })
  return { ...part, runner }
}

function createAgent(desk: Omit<Desk, 'runner'>): Agent {
  const tools = payingTools(desk)
  const desks = { description: 'Pays bills', model: textModel(desk, toolNames[desk.shape]), tools }
  if (desk.shape !== 'nested') return new LlmAgent({ name: 'desk', ...desks })
  const clerk = new LlmAgent({ name: 'clerk', ...desks })
  return new LlmAgent({ name: 'desk', model: textModel(desk, ['clerk']), tools: [agentTool(clerk)] })
}
