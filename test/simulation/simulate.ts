// Runs one seed: generates its plan, simulates it and audits the evidence.
import { createHash } from 'node:crypto'
import { InMemorySessionService, type JsonObject, type PendingRequest } from 'toolwright'
import { loadAllParts } from '../../src/core/base/load-later.ts'
import type { Action } from './action.ts'
import type { Violation } from './audit/violation.ts'
import { audit } from './auditor.ts'
import { Clients } from './clients.ts'
import { compareViews } from './compare-views.ts'
import type { CopyEvidence, Evidence, SessionEvidence } from './evidence.ts'
import { Faults } from './faults.ts'
import { generatePlan } from './generate-plan.ts'
import { isCopy, Network } from './network.ts'
import { nextAction } from './next-action.ts'
import { Outside } from './outside.ts'
import type { Plan } from './plan.ts'
import { APP, type InjectedBugs, type Site } from './process.ts'
import { quiesce } from './quiesce.ts'
import { Random } from './random.ts'
import { World } from './world.ts'

/** The result of one seed. */
export interface Report {
  readonly seed: number
  readonly evidence: Evidence
  readonly violations: readonly Violation[]
}

/** The most steps of one simulation. A conversation that needs more is in an endless loop. */
const MOST_STEPS = 30_000

/** Simulates a seed and audits the result. `bugs` adds bugs that the auditor must find. */
export async function simulate(seed: number, bugs: InjectedBugs = {}): Promise<Report> {
  useSynchronousDigests()
  await loadAllParts() // a step must not wait for a file
  const strays: string[] = []
  const recordStray = (reason: unknown): void => void strays.push(String(reason))
  process.on('unhandledRejection', recordStray)
  try {
    const evidence = { ...(await collectEvidence(seed, bugs)), strays }
    return { seed, evidence, violations: [...audit(evidence), ...compareViews(evidence)] }
  } finally {
    process.off('unhandledRejection', recordStray)
  }
}

async function collectEvidence(seed: number, bugs: InjectedBugs): Promise<Omit<Evidence, 'strays'>> {
  const random = new Random(seed)
  const plan = generatePlan(seed, random.fork('plan'))
  const world = new World(random.fork('world'), plan.faultRates.slowness)
  const ids = random.fork('store')
  const newId = (): string => `x${ids.int(0x1_0000_0000)}`
  const now = (): number => world.wallNow
  const monotonicNow = bugs.leasesOnWallClock ? now : (): number => world.now
  const store = new InMemorySessionService({ newId, now, monotonicNow })
  const faults = new Faults(random.fork('faults'), plan.faultRates)
  const network = new Network(world, store, faults, plan.copies)
  const outside = new Outside(() => world.tick())
  const site: Site = {
    plan,
    world,
    network,
    outside,
    faults,
    bugs,
    requests: [],
    reused: [],
    mishaps: [],
    logged: [],
    copies: [],
  }
  const clients = new Clients(site, random.fork('clients'))
  await converse(site, store, clients, random.fork('actions'))
  const unfinished = await quiesce(site, store, clients, random.fork('end'))
  const { requests, reused, mishaps, logged } = site
  const { actions, answers, clockSteps } = clients
  const { journal } = network
  const ledger = outside.ledger.filter(({ session }) => !isCopy(session))
  const sessions = await logsOf(plan, store, world)
  const copies = await copiesOf(site, store, outside)
  return {
    plan,
    sessions,
    journal,
    ledger,
    actions,
    requests,
    answers,
    mishaps,
    reused,
    clockSteps,
    logged,
    unfinished,
    trace: world.trace,
    copies,
  }
}

/** Alternates client actions with tasks of the world until all planned actions are done. */
async function converse(
  { plan, world }: Site,
  store: InMemorySessionService,
  clients: Clients,
  random: Random,
): Promise<void> {
  let left = plan.actions
  let turns = 0
  let guesses = 0
  let copies = 0
  let clockAhead = 0
  const seen = new Map<string, PendingRequest>()
  const sent: Extract<Action, { type: 'answer' }>[] = []
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    await world.settle()
    if (left > 0 && random.chance(plan.eagerness) ? false : world.step()) continue
    if (left-- <= 0) return
    // clients do not answer in copies: whatever is approved there was approved elsewhere
    const pending = (await store.pending({ appName: APP })).filter(({ sessionId }) => !isCopy(`/${sessionId}`))
    for (const request of pending) seen.set(request.id, request)
    const action = nextAction(random, plan, {
      pending,
      sent,
      seen: [...seen.values()],
      clockAhead,
      turns,
      guesses,
      copies,
    })
    if (action.type === 'set clock') clockAhead += action.ms
    if (action.type === 'say') turns++
    if ('to' in action) copies++
    if (action.type === 'post' || (action.type === 'answer' && action.manner === 'guessed')) guesses++
    else if (action.type === 'answer') sent.push(action)
    clients.do(action)
  }
}

async function logsOf(plan: Plan, store: InMemorySessionService, world: World): Promise<SessionEvidence[]> {
  world.pass(60_000)
  world.stepWallClock(365 * 86_400_000) // ends all leases, on both clocks
  const found: SessionEvidence[] = []
  for (const { userId, sessionId } of plan.sessions) {
    const key = { appName: APP, userId, sessionId }
    const session = await store.getSession(key)
    if (!session) continue
    const lease = await store.claim(key)
    const { entries } = await store.read(lease)
    found.push({ userId, sessionId, entries: entries.slice(), state: session.state as JsonObject })
    await store.release(lease)
  }
  return found
}

/** What became of each copy. All leases have ended, and `recover()` was called after that of each copy. */
async function copiesOf({ copies }: Site, store: InMemorySessionService, { ledger }: Outside): Promise<CopyEvidence[]> {
  const unfinished = await store.claimUnfinishedCopies({ appName: APP })
  const isUnfinished = (session: string): boolean =>
    unfinished.some(({ key }) => `${key.userId}/${key.sessionId}` === session)
  const found: CopyEvidence[] = []
  for (const copy of copies) {
    const [userId = '', sessionId = ''] = copy.session.split('/')
    const exists = (await store.getSession({ appName: APP, userId, sessionId })) !== undefined
    const own = ledger.filter(({ session }) => session === copy.session)
    found.push({ ...copy, ledger: own, exists, isUnfinished: isUnfinished(copy.session) })
  }
  return found
}

/**
 * Computes digests synchronously. Otherwise another thread computes the digest of a tool's definition, and its timing would
 * make runs differ.
 */
function useSynchronousDigests(): void {
  const digest = async (_: unknown, data: BufferSource): Promise<ArrayBuffer> => {
    const bytes =
      data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    return new Uint8Array(createHash('sha256').update(bytes).digest()).buffer
  }
  Object.defineProperty(crypto.subtle, 'digest', { value: digest, configurable: true, writable: true })
}
