// One seed, from its plan to the verdict.
import { createHash } from 'node:crypto'
import { InMemorySessionService, type JsonObject, type PendingRequest } from 'toolwright'
import type { Action } from './action.ts'
import type { Violation } from './audit/violation.ts'
import { audit } from './auditor.ts'
import { Clients } from './clients.ts'
import type { Evidence, SessionEvidence } from './evidence.ts'
import { Faults } from './faults.ts'
import { generatePlan } from './generate-plan.ts'
import { Network } from './network.ts'
import { nextAction } from './next-action.ts'
import { Outside } from './outside.ts'
import type { Plan } from './plan.ts'
import { APP, type Lies, type Site } from './process.ts'
import { quiesce } from './quiesce.ts'
import { Random } from './random.ts'
import { World } from './world.ts'

export interface Report {
  readonly seed: number
  readonly evidence: Evidence
  readonly violations: readonly Violation[]
}

/** No conversation needs more; one that does goes round in circles. */
const MOST_STEPS = 30_000

export async function simulate(seed: number, lies: Lies = {}): Promise<Report> {
  holdDigestsStill()
  const strays: string[] = []
  const hear = (reason: unknown): void => void strays.push(String(reason))
  process.on('unhandledRejection', hear)
  try {
    const evidence = { ...(await happen(seed, lies)), strays }
    return { seed, evidence, violations: audit(evidence) }
  } finally {
    process.off('unhandledRejection', hear)
  }
}

async function happen(seed: number, lies: Lies): Promise<Omit<Evidence, 'strays'>> {
  const random = new Random(seed)
  const plan = generatePlan(seed, random.fork('plan'))
  const world = new World(random.fork('world'), plan.weather.slowness)
  const ids = random.fork('store')
  const newId = (): string => `x${ids.int(0x1_0000_0000)}`
  const now = (): number => world.wallNow
  const monotonicNow = lies.leasesOnWallClock ? now : (): number => world.now
  const store = new InMemorySessionService({ newId, now, monotonicNow })
  const faults = new Faults(random.fork('faults'), plan.weather)
  const network = new Network(world, store, faults)
  const outside = new Outside(() => world.tick())
  const site: Site = {
    plan,
    world,
    network,
    outside,
    faults,
    lies,
    requests: [],
    reused: [],
    mishaps: [],
    logged: [],
  }
  const clients = new Clients(site, random.fork('clients'))
  await converse(site, store, clients, random.fork('actions'))
  const unfinished = await quiesce(site, store, clients, random.fork('end'))
  const { requests, reused, mishaps, logged } = site
  const { actions, answers, clockSteps } = clients
  const { journal } = network
  const { ledger } = outside
  const sessions = await logsOf(plan, store, world)
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
  }
}

/** Clients do what they do, while whatever can happen does. */
async function converse(
  { plan, world }: Site,
  store: InMemorySessionService,
  clients: Clients,
  random: Random,
): Promise<void> {
  let left = plan.actions
  let turns = 0
  let guesses = 0
  let clockAhead = 0
  const seen = new Map<string, PendingRequest>()
  const sent: Extract<Action, { type: 'answer' }>[] = []
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    await world.settle()
    if (left > 0 && random.chance(plan.eagerness) ? false : world.step()) continue
    if (left-- <= 0) return
    const pending = await store.pending({ appName: APP })
    for (const request of pending) seen.set(request.id, request)
    const action = nextAction(random, plan, { pending, sent, seen: [...seen.values()], clockAhead, turns, guesses })
    if (action.type === 'set clock') clockAhead += action.ms
    if (action.type === 'say') turns++
    if (action.type === 'post' || (action.type === 'answer' && action.manner === 'guessed')) guesses++
    else if (action.type === 'answer') sent.push(action)
    clients.do(action)
  }
}

async function logsOf(plan: Plan, store: InMemorySessionService, world: World): Promise<SessionEvidence[]> {
  world.pass(60_000)
  world.stepWallClock(365 * 86_400_000) // leases are over, whatever they are measured by
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

/**
 * The one wait that is no port: the digest of a tool's definition comes from another thread, sooner or later. Here it
 * comes at once, so that nothing depends on when.
 */
function holdDigestsStill(): void {
  const digest = async (_: unknown, data: BufferSource): Promise<ArrayBuffer> => {
    const bytes =
      data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    return new Uint8Array(createHash('sha256').update(bytes).digest()).buffer
  }
  Object.defineProperty(crypto.subtle, 'digest', { value: digest, configurable: true, writable: true })
}
