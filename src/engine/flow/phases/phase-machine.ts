import { closestNames } from '../../../core/base/closest-names.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ReadonlyState } from '../../context/context.ts'
import { phaseRefusal, refusalText } from '../../dispatch/run-phases.ts'
import { readCondition } from '../state/read-condition.ts'
import type { ReportProblem } from '../state/report-problem.ts'
import type { WatchedSession } from '../state/watched-session.ts'
import type { LivePhase, PhaseChange, PhaseTransition } from './live-phase.ts'
import { phaseInstruction } from './phase-instruction.ts'
import type { MoveOptions, PhaseMachineOptions, SettleOptions } from './phase-machine-options.ts'
import { validatePhases } from './validate-phases.ts'

/** The most moves that `history` holds. */
const MAX_HISTORY = 100

/** The phase of a live conversation, and its moves. Moves run one after the other, also if they are started at once. */
export class PhaseMachine<S = WatchedSession> {
  readonly #phases: ReadonlyMap<string, LivePhase<S>>
  readonly #allowed: ReadonlyMap<string, ReadonlySet<string> | undefined>
  readonly #now: () => number
  readonly #report: ReportProblem
  readonly #history: PhaseChange[] = []
  #current: LivePhase<S>
  #lifecycle: 'new' | 'started' = 'new'
  /** Settles when the latest move ends. Never rejects. */
  #lastMove: Promise<unknown> = Promise.resolve()

  /** Throws INVALID_CONFIG if the phases cannot work. */
  constructor({ phases, initialPhase, now, report }: PhaseMachineOptions<S>) {
    validatePhases(phases, initialPhase)
    this.#phases = new Map(phases.map((phase) => [phase.name, phase]))
    this.#allowed = new Map(phases.map(({ name, tools }) => [name, tools && new Set(tools)]))
    this.#now = now
    this.#report = report
    this.#current = this.#find(initialPhase)
  }
  /** The current phase. */
  get current(): LivePhase<S> {
    return this.#current
  }
  /** The latest moves, at most 100, the oldest first. A copy. */
  get history(): readonly PhaseChange[] {
    return [...this.#history]
  }
  /** May the model call this tool in the current phase? */
  isToolAllowed(name: string): boolean {
    return phaseRefusal(this, name) === undefined
  }
  /** The tools of the current phase. Undefined if all are allowed. */
  allowedTools(): ReadonlySet<string> | undefined {
    return this.#allowed.get(this.#current.name)
  }
  /** What the model gets instead of a result if it calls a tool that the phase does not allow. */
  rejectionText(toolName: string): string {
    return refusalText(toolName)
  }
  /** The instruction of the current phase. It names the `needs` that are still missing. */
  instruction(state: ReadonlyState): Promise<string> {
    return phaseInstruction(this.#current, state, this.#report)
  }
  /** The phase of the first transition that applies. Undefined if the conversation stays in the current phase. */
  findTransition(state: ReadonlyState): LivePhase<S> | undefined {
    const from = this.#current
    const transition = from.transitions?.find((candidate) => this.#applies(from, candidate, state))
    return transition && this.#find(transition.to)
  }
  /** Runs `onEnter` of the first phase. Does nothing when it is called again, or after a move. */
  start(options: MoveOptions<S>): Promise<void> {
    return this.#inOrder(async () => {
      if (this.#lifecycle === 'started') return
      this.#lifecycle = 'started'
      await this.#runEnter(options, undefined)
    })
  }
  /**
   * Moves to a phase, whatever its guard says. Returns undefined if it is the current phase already. A hook must not await
   * it: the move starts when the moves before it, with their hooks, have ended.
   */
  enter(
    name: string,
    options: MoveOptions<S> & { readonly trigger?: PhaseChange['trigger'] | undefined },
  ): Promise<PhaseChange | undefined> {
    return this.#inOrder(async () => {
      const to = this.#find(name)
      return to === this.#current ? undefined : this.#move(to, options, options.trigger ?? 'program')
    })
  }
  /**
   * Follows transitions until none applies. Enters no phase twice and never returns to the phase it started from, so that
   * it ends if transitions form a cycle. Returns the moves.
   */
  settle(conditions: ReadonlyState, options: SettleOptions<S>): Promise<PhaseChange[]> {
    return this.#inOrder(async () => {
      const visited = [this.#current.name]
      const changes: PhaseChange[] = []
      while (changes.length < (options.limit ?? this.#phases.size)) {
        const to = this.findTransition(conditions)
        if (to === undefined) break
        if (visited.includes(to.name)) {
          this.#reportCycle([...visited.slice(visited.indexOf(to.name)), to.name])
          break
        }
        visited.push(to.name)
        const change = await this.#move(to, options, 'condition')
        changes.push(change)
        await options.afterMove?.(change)
      }
      return changes
    })
  }
  #find(name: string): LivePhase<S> {
    const phase = this.#phases.get(name)
    if (phase) return phase
    const [meant] = closestNames(name, [...this.#phases.keys()])
    const hint =
      meant === undefined ? `Use one of: ${[...this.#phases.keys()].join(', ')}.` : `Did you mean "${meant}"?`
    throw new ToolwrightError('INVALID_REQUEST', `"${name}" is not a phase. ${hint}`)
  }
  #applies(from: LivePhase<S>, { to, when }: PhaseTransition, state: ReadonlyState): boolean {
    if (!readCondition(`condition from phase "${from.name}" to "${to}"`, () => when(state), this.#report)) return false
    const target = this.#find(to)
    return readCondition(`guard of phase "${to}"`, () => (target.guard ? target.guard(state) : true), this.#report)
  }
  async #move(to: LivePhase<S>, options: MoveOptions<S>, trigger: PhaseChange['trigger']): Promise<PhaseChange> {
    const { state, session, turn } = options
    const from = this.#current
    await this.#runHook(`onExit of phase "${from.name}"`, () => from.onExit?.({ state, session, to: to.name }))
    this.#lifecycle = 'started'
    this.#current = to
    const change: PhaseChange = { from: from.name, to: to.name, at: this.#now(), turn, trigger }
    this.#history.push(change)
    if (this.#history.length > MAX_HISTORY) this.#history.shift()
    await this.#runEnter(options, from.name)
    return change
  }
  #runEnter({ state, session }: MoveOptions<S>, from: string | undefined): Promise<void> {
    const phase = this.#current
    return this.#runHook(`onEnter of phase "${phase.name}"`, () => phase.onEnter?.({ state, session, from }))
  }
  async #runHook(what: string, hook: () => unknown): Promise<void> {
    try {
      await hook()
    } catch (error) {
      this.#report(`The ${what} failed. The conversation continues in phase "${this.#current.name}".`, error)
    }
  }
  #reportCycle(names: readonly string[]): void {
    const cycle = names.map((name) => `"${name}"`).join(' -> ')
    const problem = `The transitions ${cycle} all apply at once. The conversation stays in phase "${this.#current.name}".`
    this.#report(problem, undefined)
  }
  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastMove.then(work)
    this.#lastMove = done.catch(() => undefined)
    return done
  }
}
