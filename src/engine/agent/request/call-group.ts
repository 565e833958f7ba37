import type { Content, Part } from '../../../core/content/content.ts'

/** The calls of one reply, while some of them have no final response. */
export interface CallGroup {
  /** The index of the responses in the history. */
  readonly at: number
  /** The invocation of the reply. */
  readonly invocationId: string
  /** The calls, in the order of the reply. */
  readonly calls: readonly GroupCall[]
  /** The calls by logged id, for a reply with many calls. Calls with the same id keep the order of the reply. */
  readonly byId: ReadonlyMap<string, readonly GroupCall[]> | undefined
  /** The number of calls without a final response. */
  open: number
  /** Contents that arrived after the reply. They are shown after the responses. */
  late: Content[] | undefined
}

/** One call of a group. */
export interface GroupCall {
  /** The id in the log. */
  readonly loggedId: string
  /** The id that the model sees. */
  readonly id: string
  /** The name that the model sees. */
  readonly name: string
  /** Whether the call is code to run. */
  readonly isCode: boolean
  /** The latest response, as the model sees it. */
  answer: readonly Part[] | undefined
  /** Whether the call has no final response yet. */
  isOpen: boolean
}
