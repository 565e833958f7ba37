// A simulated process: a runner over agents of its own, whose every wait is the world's. It can die, and stand still.
import { Runner, type SessionService } from 'toolwright'
import { makeAgent } from './agents.ts'
import type { Evidence, Mishap, ModelRequest } from './evidence.ts'
import type { Faults } from './faults.ts'
import type { Mortal, Network } from './network.ts'
import type { Outside } from './outside.ts'
import type { Plan } from './plan.ts'
import type { Random } from './random.ts'
import { tamperingPlugin } from './tampering.ts'
import type { World } from './world.ts'

export const APP = 'app'

/** The store as a process sees it, made from the store as it is. */
export type Between = (service: SessionService) => SessionService

/** Bugs that are put in, for tests of the auditor: it must find each. */
export interface Lies {
  /** What is between a process and the store changes what is stored, or read. */
  readonly between?: Between
  /** The store measures leases on the wall clock. */
  readonly leasesOnWallClock?: boolean
  /** Processes do not notice that the clock was set. */
  readonly ignoresClockSteps?: boolean
  /** The arguments of edited approvals get lost. */
  readonly dropsEdits?: boolean
  /** Tools are made without the `cancel` of the plan. */
  readonly forgetsCancel?: boolean
}

/** All that processes share. */
export interface Site {
  readonly plan: Plan
  readonly world: World
  readonly network: Network
  readonly outside: Outside
  readonly faults: Faults
  readonly lies: Lies
  readonly requests: ModelRequest[]
  readonly reused: Evidence['reused'][number][]
  readonly mishaps: Mishap[]
  readonly logged: Evidence['logged'][number][]
}

export class SimulatedProcess implements Mortal {
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
    const { world, plan, outside, lies } = site
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
        forgetsCancel: lies.forgetsCancel === true,
        limits: plan.limits,
        seen: site.network.seen,
        reused: site.reused,
        onRequest: (agent, contents) => {
          site.requests.push({ tick: world.tick(), process: name, agent, contents: [...contents] })
        },
      }),
      sessionService: lies.between ? lies.between(service) : service,
      whilePaused: plan.whilePaused,
      toolTimeoutMs: 4_000,
      maxResultBytes: plan.limits.resultBytes,
      maxArgsBytes: plan.limits.argsBytes,
      maxCallsPerReply: plan.limits.callsPerReply,
      plugins: plan.tampering ? [tamperingPlugin(plan.tampering, logError)] : [],
      logger: { warn: () => {}, error: logError },
      ports: {
        now: () => (lies.ignoresClockSteps ? world.now : world.wallNow),
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
    world.note(`${this.name} stands still for ${ms} ms ${when}`)
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
