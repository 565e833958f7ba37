// What follows from the state of a conversation: computed values, watchers, the phase and patterns.
import type { JsonObject } from '../../core/base/json.ts'
import type { Ports } from '../../core/base/ports.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { StateReader } from '../../services/session/service.ts'
import { phaseRefusal, type RunPhases } from '../dispatch/run-phases.ts'
import type { LiveEvent } from '../model/live-event.ts'
import type { LivePattern } from './patterns/live-pattern.ts'
import { PatternWatcher } from './patterns/pattern-watcher.ts'
import type { LivePhase, PhaseChange } from './phases/live-phase.ts'
import { PhaseMachine } from './phases/phase-machine.ts'
import { validatePhases } from './phases/validate-phases.ts'
import type { ComputedValue } from './state/order-computed.ts'
import { SessionState } from './state/session-state.ts'
import { StateMirror } from './state/state-mirror.ts'
import type { Watcher } from './state/watcher.ts'
import { WatcherLoops } from './state/watcher-loops.ts'

/** How often watchers may make each other run by what they write. */
const MAX_DEPTH = 100
/** How often conditions may change the phase in one turn. */
const MAX_MOVES = 100

/** What the developer of a conversation declares about its state. */
export interface FlowDefinition<S> {
  /** Values that are computed from state. */
  readonly computed?: readonly ComputedValue[] | undefined
  /** Code that runs when state changes. */
  readonly watchers?: readonly Watcher<S>[] | undefined
  /** The phases of the conversation. */
  readonly phases?: readonly LivePhase<S>[] | undefined
  /** The phase in which the session starts. */
  readonly initialPhase?: string | undefined
  /** Code that runs when something lasts or repeats. */
  readonly patterns?: readonly LivePattern<S>[] | undefined
}

/** What the flow needs from the session. */
interface FlowOptions<S> extends FlowDefinition<S> {
  /** The session, for hooks. */
  readonly session: S
  /** The stored state when the session starts. */
  readonly initial: StateReader
  /** Clock and timers. */
  readonly ports: Ports
  /** Records writes of the app and of hooks. */
  record(delta: JsonObject): Promise<void>
  /** The name of the phase that the conversation has reached. It continues there, if the phases have it. */
  readonly reached: string | undefined
  /** The phase that the log has, for a session that declares no phases: its tools are the only ones. */
  readonly recorded: Pick<RunPhases, 'allowedTools'> | undefined
  /** Records the phase that the conversation has reached, so that a text run continues in it. */
  recordPhase(phase: { readonly name: string; readonly tools?: readonly string[] | undefined }): Promise<void>
  /** The conversation has moved to another phase. */
  onPhase(change: { readonly from?: string; readonly to: string }): void | Promise<void>
  /** A watcher of a key, or a pattern, runs its code. */
  onHook(hook: 'watcher' | 'pattern', name: string): void
  /** Reports a mistake in a hook. */
  report(problem: string, error: unknown): void
}

/** The state of a conversation, and what follows from it. */
export class ConversationFlow<S> {
  readonly #options: FlowOptions<S>
  readonly #mirror: StateMirror<S>
  readonly #phases: PhaseMachine<S> | undefined
  /** Has the conversation entered its phase before this session? */
  readonly #isReached: boolean
  /** Undefined without patterns. */
  readonly #patterns: PatternWatcher<S> | undefined
  /** Watchers run one after another. */
  #watching: Promise<void> = Promise.resolve()
  #settling: Promise<void> = Promise.resolve()
  #settlingCount = 0
  #lifecycle: 'open' | 'closed' = 'open'
  readonly #loops = new WatcherLoops()
  /** Moves since the latest completed turn. */
  #moves = 0
  /** Completed turns. */
  turns = 0
  /** The state for the app and its hooks, with computed values. */
  readonly state: SessionState

  constructor(options: FlowOptions<S>) {
    this.#options = options
    const { computed, watchers, phases, initialPhase = '', initial, ports, patterns = [], report, record } = options
    validatePhases(phases, options.initialPhase)
    this.#mirror = new StateMirror({ computed, watchers, initial, report })
    this.state = new SessionState(this.#mirror.state, record, (key) => this.#loops.written(key))
    this.#isReached = phases?.some(({ name }) => name === options.reached) === true
    const first = this.#isReached ? (options.reached as string) : initialPhase
    this.#phases = phases && new PhaseMachine({ phases, initialPhase: first, now: () => ports.now(), report })
    const fire = (pattern: LivePattern<S>): void => this.#firePattern(pattern)
    this.#patterns = patterns.length ? new PatternWatcher({ patterns, ports, report, fire }) : undefined
  }

  /** The name of the phase. Undefined without phases. */
  get phase(): string | undefined {
    return this.#phases?.current.name
  }
  /** The latest changes of the phase. */
  get history(): readonly PhaseChange[] {
    return this.#phases?.history ?? []
  }

  /** Enters the first phase, unless the conversation has reached one. */
  async start(): Promise<void> {
    this.#patterns?.stateChanged(this.state)
    if (!this.#isReached) {
      await this.#recordPhase()
      await this.#phases?.start(this.#move())
    }
    await this.state.saved()
    if (this.#phases) this.#settle()
    await this.#settling
  }

  /** Takes a recorded state delta. */
  changed(delta: JsonObject): void {
    if (this.#lifecycle === 'closed') return
    const depth = this.#loops.depthOf(delta)
    for (const { watcher, before, after } of this.#mirror.apply(delta)) {
      const { session, report, onHook } = this.#options
      if (depth > MAX_DEPTH) {
        const problem = `A watcher of "${watcher.key}" did not run: its own writes made it run ${MAX_DEPTH} times in a row`
        report(`${problem}. Write the key only if its value must change.`, undefined)
        continue
      }
      this.#watching = this.#watching
        .then(() => {
          onHook('watcher', watcher.key)
          return this.#loops.run(depth, this.state, (state) => watcher.run({ before, after, state, session }))
        })
        .then(undefined, (error) => report(`A watcher of "${watcher.key}" failed`, error))
    }
    this.#patterns?.stateChanged(this.state)
    if (this.#phases) this.#settle()
  }

  /** Takes an event of the session, for patterns. */
  seen(type: LiveEvent['type']): void {
    this.#patterns?.eventSeen(type)
  }

  /** Takes the end of a turn. */
  turnCompleted(): void {
    this.turns++
    this.#moves = 0
    this.#patterns?.turnCompleted(this.state)
    if (this.#phases) this.#settle()
  }

  #settle(): void {
    const phases = this.#phases as PhaseMachine<S>
    const { onPhase, report } = this.#options
    if (this.#moves >= MAX_MOVES || this.#lifecycle === 'closed') return // its hooks make the phase change again and again
    const afterMove = async ({ from, to }: PhaseChange): Promise<void> => {
      if (++this.#moves === MAX_MOVES) {
        report(`The phase changed ${MAX_MOVES} times in one turn. It stays "${to}" until the next turn.`, undefined)
      }
      await this.state.saved()
      await this.#recordPhase()
      await onPhase({ from, to })
    }
    this.#settlingCount++
    this.#settling = phases
      .settle(this.state, { ...this.#move(), afterMove })
      .then(
        () => {},
        (error) => report('The phase could not be changed', error),
      )
      .finally(() => this.#settlingCount--)
  }

  #move(): { state: SessionState; session: S; turn: number } {
    return { state: this.state, session: this.#options.session, turn: this.turns }
  }

  /** Settles when the phase fits the state; undefined if it does now. */
  settled(): Promise<void> | undefined {
    return this.#settlingCount > 0 ? this.#settling : undefined
  }

  /** Moves to a phase, whatever its conditions say. */
  async enter(name: string): Promise<void> {
    if (!this.#phases)
      throw new ToolwrightError(
        'INVALID_REQUEST',
        `enterPhase("${name}"): the session has no phases. Pass phases to connectLive().`,
      )
    const change = await this.#phases.enter(name, this.#move())
    await this.state.saved()
    if (!change) return
    await this.#recordPhase()
    await this.#options.onPhase(change)
  }

  async #recordPhase(): Promise<void> {
    if (this.#phases) await this.#options.recordPhase(this.#phases.current)
  }

  /** The instruction of the phase. Empty without phases. */
  async instruction(): Promise<string> {
    return (await this.#phases?.instruction(this.state)) ?? ''
  }
  /** The tools of the phase. Undefined: all. */
  allowedTools(): ReadonlySet<string> | undefined {
    return (this.#phases ?? this.#options.recorded)?.allowedTools()
  }
  /** Why the phase does not allow a tool. Undefined if it does. */
  refusal(toolName: string): string | undefined {
    const phases = this.#phases ?? this.#options.recorded
    return phases && phaseRefusal(phases, toolName)
  }

  #firePattern(pattern: LivePattern<S>): void {
    const { session, report, onHook } = this.#options
    onHook('pattern', pattern.name)
    Promise.resolve()
      .then(() => pattern.run({ state: this.state, session }))
      .catch((error) => report(`Pattern "${pattern.name}" failed`, error))
  }

  /** Stops timers and watchers. */
  close(): void {
    this.#lifecycle = 'closed'
    this.state.close()
    this.#patterns?.close()
  }
}
