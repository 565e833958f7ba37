import type { StateReader } from '../../../services/session/service.ts'
import type { RunPhases } from '../../dispatch/run-phases.ts'
import type { LiveInputSource } from '../../model/live-input.ts'
import type { RunServices } from '../run-services.ts'
import type { RunListener } from './recorded-run.ts'

/** Drives a run instead of the agent loop: a live model speaks and calls tools until its session ends. */
export interface LiveDriver {
  /** What the user sends, for tools that read `context.liveInput`. */
  readonly input: LiveInputSource
  /** The phase of the conversation. Undefined without phases. */
  readonly phases: RunPhases | undefined
  /** Values computed from state. Undefined if there are none. */
  readonly derived: StateReader | undefined
  /** Sees what the run records. */
  readonly listener: RunListener
  /** The services of the run: those of the runner, with the deadlines and hooks of the live session. */
  servicesFrom(services: RunServices): RunServices
  /** Runs until the session ends. `wait`: results of long-running calls are still pending. */
  drive(): Promise<'done' | 'wait'>
}
