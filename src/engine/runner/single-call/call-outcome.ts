import type { JsonObject } from '../../../core/base/json.ts'
import { isHandle, type ModelOutput, type Part } from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { ArtifactService } from '../../../services/artifact/service.ts'
import { parseArtifactUri } from '../../../services/artifact/uri.ts'

/** What a tool call has returned. */
export interface CallResult {
  /** The response of the tool. A failed call has `error` and `errorCode` in it. */
  readonly response: JsonObject
  /** What a model sees instead of the response. */
  readonly modelOutput?: ModelOutput | undefined
  /** Media parts of the response. */
  readonly parts: readonly Part[]
}

/** What a single call ended as. */
export type CallOutcome =
  | { readonly type: 'result'; readonly sessionId: string; readonly result: CallResult }
  | {
      readonly type: 'pending'
      readonly sessionId: string
      /** What the call waits for. */
      readonly requests: readonly PendingRequest[]
      /** The handle of long-running work. Undefined if the call waits for an answer. */
      readonly handle: CallResult | undefined
    }
  | {
      readonly type: 'ended'
      readonly sessionId: string
      /** Why the run ended without a result: a cancellation, or a limit. */
      readonly error: { readonly code: string; readonly message: string } | undefined
    }

/** The events of one call, as they arrive. */
export class CallEvents {
  readonly #agentName: string
  /** The result, once there is one. */
  result: CallResult | undefined
  /** The handle of long-running work. */
  handle: CallResult | undefined
  /** The error that ended the run. */
  error: { readonly code: string; readonly message: string } | undefined

  constructor(agentName: string) {
    this.#agentName = agentName
  }

  /** Reads one event of the run. */
  add(event: Event): void {
    const { author, partial, isolationScope, content, errorCode, errorMessage = '' } = event
    if (author !== this.#agentName || partial || isolationScope !== undefined) return // of an agent inside the tool
    if (errorCode !== undefined) this.error = { code: errorCode, message: errorMessage }
    if (content?.role !== 'tool') return
    const [first, ...parts] = content.parts
    if (!first?.functionResponse) return
    const { response, modelOutput } = first.functionResponse
    if (isHandle(first.functionResponse)) this.handle = { response, modelOutput, parts }
    else this.result = { response, modelOutput, parts }
  }
}

/** Replaces artifact references by their bytes, for a caller that cannot read artifacts. */
export async function loadMediaBytes(result: CallResult, service: ArtifactService): Promise<CallResult> {
  const loaded = result.parts.map(async (part) => {
    const reference = part.fileData && parseArtifactUri(part.fileData.fileUri)
    const stored = reference && (await service.loadArtifact(reference))
    return stored?.inlineData ? { inlineData: stored.inlineData } : part
  })
  return { ...result, parts: await Promise.all(loaded) }
}
