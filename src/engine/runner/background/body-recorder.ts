import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { LoopRecorder } from '../../agent/loop/run-host.ts'

/** What a body has reported last. */
export class LatestProgress {
  #response: JsonObject | undefined

  /** Takes progress. It replaces what was not taken yet. */
  report(response: JsonObject): void {
    this.#response = response
  }

  /** The progress since the last time. Undefined if there is none. */
  take(): JsonObject | undefined {
    const response = this.#response
    this.#response = undefined
    return response
  }
}

/** The recorder of a body that runs without the lease: it records nothing, and passes progress on. */
export function bodyRecorder(drafts: Pick<LoopRecorder, 'draft'>, progress: LatestProgress): LoopRecorder {
  return {
    draft: (...args) => drafts.draft(...args),
    emit: ({ content }) => {
      const response = content?.parts[0]?.functionResponse?.response
      if (isRecord(response)) progress.report(response)
      return undefined
    },
    commit: () => Promise.reject(new Error('A body in the background writes nothing to the log.')),
    checkLease: () => undefined, // the recorded attempt is its right to run
    checkInbox: async () => {},
    keepUnrecorded: () => () => {},
    hideFromPlugins: () => {},
  }
}
