// Shows a model call to observers.

import type { Ports } from '../../../core/base/ports.ts'
import type { NewEntry } from '../../../core/event/event.ts'
import type { LlmRequest } from '../../model/llm-request.ts'
import type { LlmResponse } from '../../model/model.ts'
import type { Settled } from '../../observe/observation.ts'
import type { ModelOperation, OperationEnd } from '../../observe/operation.ts'
import type { AgentTurn } from './run-host.ts'

/** A model call that may be observed. */
export interface ObservedTurn extends AgentTurn {
  /** Its operation. Undefined: no one observes it. */
  operation: ModelOperation | undefined
}

/** Notes what the reply alone does not tell: when its first delta came, and why it failed. */
export class ReplyNotes {
  readonly #ports: Ports
  readonly #startedAt: number
  /** The milliseconds until the first delta. */
  firstDeltaMs: number | undefined
  /** What the model threw, also if a callback then replied instead of it. */
  failure: { readonly error: unknown } | undefined

  constructor(ports: Ports) {
    this.#ports = ports
    this.#startedAt = ports.monotonicNow()
  }

  /** Notes that a response has come. */
  noteDelta(): void {
    this.firstDeltaMs ??= this.#ports.monotonicNow() - this.#startedAt
  }

  /** Notes that the model has failed. */
  noteFailure(error: unknown): void {
    this.failure = { error }
  }
}

/** Generates a reply within the observers. `T`: a reply, or what stands for a failure. */
export function observeModel<T extends object>(
  turn: ObservedTurn,
  request: LlmRequest,
  generate: (notes?: ReplyNotes) => Promise<T>,
): Promise<T> {
  const { run, plan, frame } = turn
  const { observation, ports } = run.services
  const { operation: parent } = frame
  if (!observation || !parent) return generate()
  const { model } = plan
  const operation: ModelOperation = {
    type: 'model',
    run: parent.run,
    parent,
    agent: plan.agent.name,
    model: request.model ?? model.name,
    provider: model.provider,
    request,
    stream: run.runConfig.streaming === true,
    startedAt: undefined,
  }
  turn.operation = operation
  const notes = new ReplyNotes(ports)
  const endOf = (settled: Settled<T>): OperationEnd => {
    const { failure, firstDeltaMs } = notes
    if (!('value' in settled) && run.stop.stopped) return { outcome: 'cancelled' }
    if (failure || !('value' in settled))
      return {
        outcome: 'failed',
        errorCode: 'MODEL_ERROR',
        error: failure ? failure.error : settled.error,
        firstDeltaMs,
      }
    const response: LlmResponse = settled.value
    const { errorCode } = response
    return { outcome: errorCode === undefined ? 'completed' : 'failed', errorCode, response, firstDeltaMs }
  }
  return observation.around(operation, () => generate(notes), endOf, run.stop)
}

/** Tells the observers which event has the reply. Its first entry is the reply, or the error. */
export function noteRecorded({ run, operation }: ObservedTurn, [first]: readonly NewEntry[]): void {
  if (operation && first?.event)
    run.services.observation?.note(operation, { type: 'recorded', eventId: first.event.id })
}
