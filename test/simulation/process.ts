// A simulated process: a runner with its own agents, whose timers and waits belong to the world. It can die and stall.
import { Runner, type SessionService } from 'toolwright'
import { makeAgent } from './agents.ts'
import type { CopyEvidence, Evidence, Mishap, ModelRequest } from './evidence.ts'
import type { Faults } from './faults.ts'
import type { FallibleProcess, Network } from './network.ts'
import type { Outside } from './outside.ts'
import type { Plan } from './plan.ts'
import type { Random } from './random.ts'
import { tamperingPlugin } from './tampering.ts'
import type { World } from './world.ts'

/** The app name of all sessions. */
export const APP = 'app'

/** Wraps the store that a process uses. */
export type StoreWrapper = (service: SessionService) => SessionService

/** Bugs to inject. The tests of the auditor expect it to find each of them. */
export interface InjectedBugs {
  /** Changes entries between a process and the store. */
  readonly wrapStore?: StoreWrapper
  /** The store measures leases on the wall clock. */
  readonly leasesOnWallClock?: boolean
  /** Processes do not notice changes of the wall clock. */
  readonly ignoresClockSteps?: boolean
  /** The arguments of edited approvals get lost. */
  readonly dropsEdits?: boolean
  /** Tools are made without the `cancel` of the plan. */
  readonly forgetsCancel?: boolean
}

/** Everything that simulated processes share. */
export interface Site {
  readonly plan: Plan
  readonly world: World
  readonly network: Network
  readonly outside: Outside
  readonly faults: Faults
  readonly bugs: InjectedBugs
  readonly requests: ModelRequest[]
  readonly reused: Evidence['reused'][number][]
  readonly mishaps: Mishap[]
  readonly logged: Evidence['logged'][number][]
  readonly copies: Pick<CopyEvidence, 'kind' | 'session' | 'origin'>[]
}

/** A process with one runner. */
export class SimulatedProcess implements FallibleProcess {
  readonly name: string
  readonly runner: Runner
  readonly #site: Site
  readonly #onDeath: (process: SimulatedProcess) => void
  isAlive = true
  stalledUntil = 0

  constructor(site: Site, name: string, random: Random, onDeath: (process: SimulatedProcess) => void) {
    this.name = name
    this.#site = site
    this.#onDeath = onDeath
    const { world, plan, outside, bugs } = site
    const service = site.network.serviceFor(this)
    const turn = (says: string): Promise<void> => this.#turn(says)
    const logError = (message: unknown): void => void site.logged.push({ process: name, message: String(message) })
    this.runner = new Runner({
      appName: APP,
      agent: makeAgent(plan, {
        process: name,
        outside,
        turn,
        sleep: (ms) => world.sleep(this, ms),
        think: () => turn('a model thinks'),
        forgetsCancel: bugs.forgetsCancel === true,
        limits: plan.limits,
        seen: site.network.seen,
        reused: site.reused,
        onRequest: (agent, contents) => {
          site.requests.push({ tick: world.tick(), process: name, agent, contents: [...contents] })
        },
      }),
      sessionService: bugs.wrapStore ? bugs.wrapStore(service) : service,
      whilePaused: plan.whilePaused,
      toolTimeoutMs: 4_000,
      maxResultBytes: plan.limits.resultBytes,
      maxArgsBytes: plan.limits.argsBytes,
      maxCallsPerReply: plan.limits.callsPerReply,
      plugins: plan.tampering ? [tamperingPlugin(plan.tampering, logError)] : [],
      logger: { warn: () => {}, error: logError },
      ports: {
        now: () => (bugs.ignoresClockSteps ? world.now : world.wallNow),
        monotonicNow: () => world.now,
        setTimer: (callback, ms, options) => world.setTimer(this, callback, ms, options?.background === true),
        random: () => random.next(),
        newId: () => `${name}${random.int(0x1_0000_0000).toString(36)}`,
      },
    })
  }

  die(when: string): void {
    if (!this.isAlive) return
    const { world, network, mishaps } = this.#site
    mishaps.push({ tick: world.tick(), process: this.name, type: 'died', when })
    world.note(`${this.name} dies ${when}`)
    world.bury(this)
    network.cut(this)
    this.#onDeath(this)
  }

  stall(ms: number, when: string): void {
    const { world, mishaps } = this.#site
    mishaps.push({ tick: world.tick(), process: this.name, type: 'stalled', when })
    world.note(`${this.name} stalls for ${ms} ms ${when}`)
    world.stall(this, ms)
  }

  #turn(says: string): Promise<void> {
    const { world, faults } = this.#site
    return new Promise((resolve) => {
      world.add(this, says, () => {
        const fault = faults.ofStep()
        if (fault === 'kill') return this.die(`while ${says}`)
        if (fault === 'stall') this.stall(faults.stallMs(), `while ${says}`)
        if (fault === 'stall') world.add(this, says, resolve)
        else resolve()
      })
    })
  }
}
