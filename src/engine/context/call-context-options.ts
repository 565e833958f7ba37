import type { AuthCredential } from '../../core/content/auth.ts'
import type { ToolConfirmation } from '../../core/content/content.ts'
import type { RequestState } from '../../core/event/invocation-state.ts'
import type { OfferedTool } from '../model/llm-request.ts'
import type { InvocationHost } from './invocation-host.ts'
import type { ToolScheduling } from './tool-scheduling.ts'

/** Options of `CallContext`. */
export interface CallContextOptions {
  /** The run, or its replacement in a test. */
  readonly host: InvocationHost
  /** The called tool. */
  readonly tool: OfferedTool
  /** The agent whose model made the call. */
  readonly agentName: string
  /** The branch of that agent. Default: the main branch. */
  readonly branch?: string | undefined
  /** The id of the function call. */
  readonly functionCallId: string
  /** The credential for the call. */
  readonly authCredential?: AuthCredential | undefined
  /** The approval of the call. */
  readonly toolConfirmation?: ToolConfirmation | undefined
  /** Earlier requests of this call, with their answers. Default: none. */
  readonly requests?: readonly RequestState[] | undefined
  /** Stores what the body schedules. Undefined outside conversations of a runner. */
  readonly scheduling?: ToolScheduling | undefined
  /** Called for each value that the body passes to `progress`. */
  onProgress(functionCallId: string, toolName: string, value: unknown): void
}
