import type { ThrownInCall } from '../../../core/error/thrown-in-call.ts'

/** How many stacks are remembered. */
const MAX_STACKS = 200

/** The stack of an error that a tool threw, for the developer. */
interface CallStack {
  /** The id of the call. */
  readonly functionCallId: string
  /** The tool. */
  readonly toolName: string
  /** The stack, without what looks like a secret. */
  readonly stack: string
}

/** The stacks of errors that tools have thrown lately. Kept in memory only: the log of a session has messages, never stacks. */
export class RecentStacks {
  readonly #thrown: ThrownInCall[] = []

  /** Remembers an error. */
  add(thrown: ThrownInCall): void {
    this.#thrown.push(thrown)
    if (this.#thrown.length > MAX_STACKS) this.#thrown.shift()
  }

  /** The stacks of a session, the oldest first. */
  find({ userId, sessionId }: { readonly userId: string; readonly sessionId: string }): CallStack[] {
    return this.#thrown
      .filter(({ call }) => call.userId === userId && call.sessionId === sessionId)
      .map(({ call, stack = '' }) => ({ functionCallId: call.functionCallId, toolName: call.toolName, stack }))
  }
}
