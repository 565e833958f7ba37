// Performs the actions of clients and operators, and records their results.
import { type Message, type Part, type Run, type Runner, type RunOptions, ToolwrightError } from 'toolwright'
import type { Action, Where } from './action.ts'
import type { ActionEvidence, CopyEvidence, Evidence, SentAnswer } from './evidence.ts'
import { isCopy } from './network.ts'
import { APP, SimulatedProcess, type Site } from './process.ts'
import type { Random } from './random.ts'

export class Clients {
  readonly actions: ActionEvidence[] = []
  readonly answers: SentAnswer[] = []
  readonly clockSteps: Evidence['clockSteps'][number][] = []
  readonly #site: Site
  readonly #random: Random
  readonly #processes: SimulatedProcess[] = []
  #born = 0

  constructor(site: Site, random: Random) {
    this.#site = site
    this.#random = random
  }

  /** Whether an action is still waiting for a living process. */
  get areWaiting(): boolean {
    return this.actions.some(({ outcome }) => outcome === 'open')
  }

  do(action: Action): void {
    const { world } = this.#site
    switch (action.type) {
      case 'wait':
        world.note(`clients: ${action.ms / 1000} s pass`)
        world.pass(action.ms)
        return
      case 'kill':
        this.process(action.slot).die('of itself')
        return
      case 'stall':
        this.process(action.slot).stall(action.ms, 'of itself')
        return
      case 'set clock':
        this.clockSteps.push({ tick: world.tick(), ms: action.ms })
        world.note(`operator: sets the clock by ${action.ms / 1000} s`)
        world.stepWallClock(action.ms)
        return
      case 'post':
        this.#post(action)
        return
      case 'copy rows': {
        const { where, to } = action
        world.note(`operator: copies rows of ${where.userId}/${where.sessionId} to ${to}`)
        this.#site.copies.push(copyOf('rows', where, to))
        const key = { appName: APP, ...where }
        this.#site.network.copyRows(key, { ...key, sessionId: to }, action.at).catch(() => {}) // the session may not exist yet
        return
      }
      default:
        this.#ask(action)
    }
  }

  #post({ where, item, means }: Extract<Action, { type: 'post' }>): void {
    const { world, network } = this.#site
    this.#sent(where, means)
    world.note(`intruder: posts ${item.type} to ${where.userId}/${where.sessionId}`)
    network.intrude({ appName: APP, ...where }, item).catch(() => {}) // the session may not exist yet
  }

  #sent(where: Where, means: Extract<Action, { type: 'answer' }>['means']): void {
    const { world } = this.#site
    const tick = world.tick()
    for (const one of means) this.answers.push({ tick, wall: world.wallNow / 1000, ...where, ...one })
  }

  /** The process in a slot. Starts a new process if the old one has died. */
  process(slot: number): SimulatedProcess {
    const there = this.#processes[slot]
    if (there?.isAlive) return there
    const name = `p${++this.#born}`
    const process = new SimulatedProcess(this.#site, name, this.#random.fork(name), (dead) => this.#lose(dead))
    this.#processes[slot] = process
    return process
  }

  wakeAll(): void {
    for (const process of this.#processes) if (process) process.stalledUntil = 0
  }

  #ask(action: Extract<Action, { slot: number }>): void {
    const { world } = this.#site
    const process = this.process(action.slot)
    const where = 'where' in action ? action.where : { userId: '', sessionId: '' }
    const session = `${where.userId}/${where.sessionId}`
    const says = `${action.type}${action.type === 'answer' ? ` (${action.manner})` : ''} in ${session}`
    const taken: ActionEvidence = {
      tick: world.tick(),
      type: action.type,
      says,
      process: process.name,
      session,
      completes: 'completes' in action && action.completes === true,
      yielded: [],
      outcome: 'open',
    }
    this.actions.push(taken)
    world.note(`client: ${says} at ${process.name}`)
    if (action.type === 'answer') this.#sent(where, action.means)
    this.#perform(action, process.runner, where, taken).then(
      () => this.#close(taken, taken.outcome === 'open' ? 'ended' : taken.outcome),
      (error: unknown) => {
        taken.error =
          error instanceof ToolwrightError
            ? { code: error.code, message: error.message }
            : { code: 'UNEXPECTED', message: error instanceof Error ? String(error.stack) : String(error) }
        this.#close(taken, 'failed')
      },
    )
  }

  async #perform(
    action: Extract<Action, { slot: number }>,
    runner: Runner,
    where: Where,
    taken: ActionEvidence,
  ): Promise<void> {
    const { llmCalls: maxLlmCalls } = this.#site.plan.limits
    switch (action.type) {
      case 'say': {
        const runConfig = { streaming: action.streaming, maxLlmCalls }
        return await this.#send(runner, { ...where, message: action.message, runConfig }, action, taken)
      }
      case 'answer': {
        const message = this.#site.bugs.dropsEdits ? withoutEdits(action.message) : action.message
        return await this.#send(runner, { ...where, message, runConfig: { maxLlmCalls } }, action, taken)
      }
      case 'resume':
        return await this.#read(runner.resume({ ...where, runConfig: { maxLlmCalls } }), taken)
      case 'cancel':
        return await runner.cancel(where)
      case 'fork':
      case 'import':
        return await this.#copy(action, runner, where)
      case 'recover': {
        const runs = await runner.recover()
        // the log of a copy is no evidence: what its run yields is not compared with it
        const read = await Promise.allSettled(
          runs.map((run) => this.#read(run, isCopy(`/${run.sessionId}`) ? { ...taken, yielded: [] } : taken)),
        )
        for (const one of read) if (one.status === 'rejected') throw one.reason
        return
      }
      default:
        throw new Error(`Unhandled action type: ${action.type}.`)
    }
  }

  async #copy(
    { type, at, to }: Extract<Action, { at: number; slot: number }>,
    runner: Runner,
    where: Where,
  ): Promise<void> {
    const { sessionService } = runner
    const key = { appName: APP, ...where }
    const { events = [] } = (await sessionService.getSession(key)) ?? {}
    const cut = Math.min(Math.floor(at * events.length), events.length - 1)
    const before = events[cut]
    const imported = events.slice(0, cut + 1)
    // an import of messages only can be resumed
    if (!before || (type === 'import' && imported.every(({ author }) => author === 'user'))) return
    this.#site.copies.push(copyOf(type, where, to))
    if (type === 'fork') await runner.fork({ ...where, before: before.id, newSessionId: to })
    else await sessionService.createSession({ ...key, sessionId: to, events: imported })
  }

  async #send(
    runner: Runner,
    options: RunOptions,
    { completes, leaveAfter }: { readonly completes?: boolean; readonly leaveAfter?: number },
    taken: ActionEvidence,
  ): Promise<void> {
    if (!completes) return await this.#read(runner.run(options), taken, leaveAfter)
    const { events } = await runner.complete(options)
    for (const event of events) taken.yielded.push({ tick: this.#site.world.tick(), event })
  }

  async #read(run: Run, taken: ActionEvidence, leaveAfter = Number.POSITIVE_INFINITY): Promise<void> {
    for await (const event of run) {
      taken.yielded.push({ tick: this.#site.world.tick(), event })
      if (taken.yielded.length < leaveAfter) continue
      taken.outcome = 'left'
      break
    }
  }

  #close(taken: ActionEvidence, outcome: ActionEvidence['outcome']): void {
    taken.outcome = outcome
    taken.endedAt = this.#site.world.tick()
    const why = taken.error ? ` with ${taken.error.code}` : ''
    this.#site.world.note(`client: ${taken.says} ${outcome}${why}`)
  }

  #lose({ name }: SimulatedProcess): void {
    for (const action of this.actions) {
      if (action.process === name && action.outcome === 'open') action.outcome = 'died'
    }
  }
}

function copyOf(kind: CopyEvidence['kind'], { userId, sessionId }: Where, to: string): Site['copies'][number] {
  return { kind, session: `${userId}/${to}`, origin: `${userId}/${sessionId}` }
}

/** The answers without their edited arguments. */
function withoutEdits(message: Message): Message {
  return (message as readonly Part[]).map((part) => {
    const { args: _, ...response } = part.functionResponse?.response ?? {}
    return part.functionResponse ? { functionResponse: { ...part.functionResponse, response } } : part
  })
}
