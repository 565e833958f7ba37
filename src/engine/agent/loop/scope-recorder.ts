import type { StopSignal } from '../../../core/base/stop-signal.ts'
import type { NewEntry } from '../../../core/event/event.ts'
import type { EventDraft, UnrecordedResult } from '../../dispatch/host.ts'
import type { LoopRecorder } from './run-host.ts'

/** The recorder of one scope, or of one call that can be stopped alone. It records nothing after the stop. */
export class ScopeRecorder implements LoopRecorder {
  readonly #recorder: LoopRecorder
  readonly #stop: StopSignal
  readonly #commits: Set<Promise<void>> = new Set()
  /** Results of this scope that are not in the log yet. */
  unrecorded: (readonly (UnrecordedResult | undefined)[])[] = []

  constructor(recorder: LoopRecorder, stop: StopSignal) {
    this.#recorder = recorder
    this.#stop = stop
  }

  /** Settles when no commit of this scope is under way. */
  async committed(): Promise<void> {
    while (this.#commits.size) await Promise.allSettled(this.#commits)
  }
  /** Appends entries, unless the scope is stopped. */
  commit(entries: readonly NewEntry[]): Promise<void> {
    if (this.#stop.stopped) return Promise.reject(this.#stop.stopped.reason)
    const commit = this.#recorder.commit(entries).finally(() => this.#commits.delete(commit))
    this.#commits.add(commit)
    // no body may start after the stop, even if its intent was recorded
    return commit.then(() => {
      if (this.#stop.stopped) throw this.#stop.stopped.reason
    })
  }
  /** Yields a partial event, unless the scope is stopped. */
  emit(event: EventDraft): Promise<void> | undefined {
    return this.#stop.stopped ? undefined : this.#recorder.emit(event)
  }
  /** Keeps results that wait for other calls, for the end of the scope and of the run. */
  keepUnrecorded(outcomes: readonly (UnrecordedResult | undefined)[]): () => void {
    const recorded = this.#recorder.keepUnrecorded(outcomes)
    this.unrecorded.push(outcomes)
    return () => {
      recorded()
      this.unrecorded = this.unrecorded.filter((other) => other !== outcomes)
    }
  }
  /** Creates an event of the run. */
  draft(...event: Parameters<LoopRecorder['draft']>): ReturnType<LoopRecorder['draft']> {
    return this.#recorder.draft(...event)
  }
  /** Renews the lease if it may be over. */
  checkLease(): Promise<void> | undefined {
    return this.#recorder.checkLease()
  }
  /** Drains the inbox if it is due. */
  checkInbox(): Promise<void> {
    return this.#recorder.checkInbox()
  }
  /** Hides the events of a scope from plugins. */
  hideFromPlugins(path: string): void {
    this.#recorder.hideFromPlugins(path)
  }
}
