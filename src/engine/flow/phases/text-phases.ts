// The phase of a conversation in a text run: where the log says it is, moved on by the same transitions as in a live session.

import { ToolwrightError } from '../../../core/error/error.ts'
import type { StateReader } from '../../../services/session/service.ts'
import type { ReadonlyState } from '../../context/context.ts'
import { readonlyState } from '../../context/state.ts'
import { phaseRecord, type RunPhases } from '../../dispatch/run-phases.ts'
import type { PhaseHost } from '../../runner/run/conversation-phases.ts'
import { derivedReader } from '../state/derived-reader.ts'
import { SessionState } from '../state/session-state.ts'
import { StateMirror } from '../state/state-mirror.ts'
import type { WatchedSession } from '../state/watched-session.ts'
import type { PhaseDefinition } from './phase-definition.ts'
import { PhaseMachine } from './phase-machine.ts'
import type { SettleOptions } from './phase-machine-options.ts'

/** The phase of a text run. */
export class TextPhases<S> implements RunPhases {
  readonly #definition: PhaseDefinition<S>
  readonly #host: PhaseHost
  /** The state without computed values. The state of the run gets them from here. */
  readonly #stored: StateReader
  /** The computed values, for the state of the run. */
  readonly derived: StateReader | undefined
  readonly #machine: PhaseMachine<S>
  /** The state for hooks. What they write is recorded. */
  readonly #state: SessionState
  readonly #report: (problem: string, error: unknown) => void
  /** Is the phase in the log that of the machine? Not in a session without one, or after the phases have changed. */
  #isRecorded: boolean

  constructor(definition: PhaseDefinition<S>, host: PhaseHost) {
    this.#definition = definition
    this.#host = host
    this.#stored = host.state
    this.derived = derivedReader(definition.computed, () => this.#conditions())
    const { phases } = definition
    const reached = phases.find((phase) => phase.name === host.view.phase?.phase)
    this.#isRecorded = reached !== undefined
    const { ports, logger } = host.services
    this.#report = (problem, error) => logger.warn(problem, error)
    this.#machine = new PhaseMachine<S>({
      phases,
      initialPhase: reached?.name ?? definition.initialPhase,
      now: () => ports.now(),
      report: this.#report,
    })
    this.#state = new SessionState(readonlyState(host.state), (stateDelta) => {
      const { recorder } = host
      return recorder.commit([{ event: recorder.draft('user', undefined, undefined, { stateDelta }) }])
    })
  }

  /** Follows transitions until none applies. */
  async settle(): Promise<void> {
    const options: SettleOptions<S> = {
      state: this.#state,
      session: textSession(this.#state) as unknown as S, // hooks that need a live session fail, and are reported
      turn: 0,
      afterMove: () => this.#record(),
    }
    if (!this.#isRecorded) {
      this.#isRecorded = true
      await this.#machine.start(options)
      await this.#record()
    }
    if (this.#machine.current.transitions?.length) await this.#machine.settle(this.#conditions(), options)
  }

  /** State with computed values, as it is now. */
  #conditions(): ReadonlyState {
    const { computed } = this.#definition
    const initial = this.#stored
    if (!computed?.length) return readonlyState(initial)
    return new StateMirror({ computed, initial, report: this.#report }).state
  }

  async #record(): Promise<void> {
    await this.#state.saved()
    const { recorder, invocationId } = this.#host
    await recorder.commit([{ record: phaseRecord(invocationId, this.#machine.current) }])
  }

  /** The tools of the phase. */
  allowedTools(): ReadonlySet<string> | undefined {
    return this.#machine.allowedTools()
  }

  /** The instruction of the phase. */
  instruction(): Promise<string> {
    return this.#machine.instruction(this.#conditions())
  }
}

/** What hooks get as the session of a text run: its state. */
function textSession(state: SessionState): WatchedSession {
  return {
    state,
    send: () => {
      throw new ToolwrightError('INVALID_REQUEST', 'A hook of a phase called session.send(), but this is a text run.')
    },
  }
}
