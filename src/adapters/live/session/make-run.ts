import type { RunPhases } from '../../../engine/dispatch/run-phases.ts'
import type { ConversationFlow } from '../../../engine/flow/conversation-flow.ts'
import { derivedReader } from '../../../engine/flow/state/derived-reader.ts'
import type { ChangeResponses } from '../../../engine/runner/live/before-tool-response.ts'
import { LiveRun, type LiveRunOptions } from '../../../engine/runner/live/live-run.ts'
import type { LiveOptions } from '../live-options.ts'

/** What a session gives to its run before it has started. */
export interface MakeRunOptions extends Pick<LiveRunOptions, 'input' | 'on'> {
  /** State and what follows from it. Undefined until the session has started. */
  flow(): Pick<ConversationFlow<never>, 'state' | 'allowedTools'> | undefined
  /** Reports a mistake in a hook. */
  report(problem: string, error: unknown): void
}

/** Makes the run of a session. */
export function makeRun(options: LiveOptions<never>, { input, on, flow, report }: MakeRunOptions): LiveRun {
  const { model, textModel, phases, computed, beforeToolResponse } = options
  return new LiveRun({
    model,
    textModel,
    phases: phases && livePhases(flow),
    derived: derivedReader(computed, () => flow()?.state),
    input,
    changeResponses: beforeToolResponse && changeResponses(beforeToolResponse, report),
    on,
  })
}

/** Lets `beforeToolResponse` change responses before they are recorded. */
function changeResponses(
  beforeToolResponse: NonNullable<LiveOptions<never>['beforeToolResponse']>,
  report: MakeRunOptions['report'],
): ChangeResponses {
  return async (responses, state) => {
    try {
      return (await beforeToolResponse({ responses, state })) ?? []
    } catch (error) {
      report('beforeToolResponse failed, so its responses are withheld', error)
      return []
    }
  }
}

const NO_TOOLS: ReadonlySet<string> = new Set()

/** The phase of a live session, for the dispatcher. No tool is allowed before the session has started. */
function livePhases(flow: MakeRunOptions['flow']): RunPhases {
  return {
    settle: () => undefined, // the flow follows each recorded change
    allowedTools: () => {
      const started = flow()
      return started ? started.allowedTools() : NO_TOOLS
    },
    instruction: () => '', // the setup of the model has it
  }
}
