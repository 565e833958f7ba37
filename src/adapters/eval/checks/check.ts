// What a check is, what it gets, and what it says. Checks are data, so that they can be written in a file of cases as well.
import type { JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import type { CallView, InvocationView, RequestView, TokenCounts } from '../../../core/event/views/views.ts'
import type { Difference } from '../recording/difference.ts'
import type { Expected } from './matches.ts'

/** Something that must be true of a conversation. */
export type Check =
  | CallsCheck
  | { readonly never: string | ExpectedCall }
  | { readonly contains: string | readonly string[] }
  | { readonly pattern: string | RegExp }
  | { readonly similar: string; readonly min?: number | undefined }
  | { readonly json: Expected }
  | { readonly state: Expected }
  | { readonly artifacts: readonly string[] | { readonly [filename: string]: Expected } }
  | { readonly requests: readonly ExpectedRequest[] }
  | { readonly limits: Limits }
  | CustomCheck

/** A tool call that is expected. */
export interface ExpectedCall {
  /** The name of the tool. */
  readonly name: string
  /** The arguments, as a value or a matcher. Default: any. */
  readonly args?: Expected | undefined
}

/** The tool calls of a conversation or a turn. Calls inside agent tools and code do not count. */
export interface CallsCheck {
  /** The calls. */
  readonly calls: readonly ExpectedCall[]
  /**
   * `exact` (default): these calls and no others. `in-order`: these calls in this order, with others between them. `any-order`: these
   * calls in any order, and others.
   */
  readonly match?: 'exact' | 'in-order' | 'any-order' | undefined
}

/** A request to a person that is expected. */
export interface ExpectedRequest {
  /** The tool. */
  readonly tool: string
  /** The kind of request. Default: any. */
  readonly kind?: RequestView['kind'] | undefined
  /** The arguments that the person saw. Default: any. */
  readonly args?: Expected | undefined
  /** What the answer meant. Default: any. */
  readonly answer?: NonNullable<RequestView['answer']>['type'] | undefined
}

/** The most of something. */
export interface Limits {
  /** Tool calls, also those inside agent tools and code. */
  readonly calls?: number | undefined
  /** Model calls. */
  readonly modelCalls?: number | undefined
  /** Tokens that models read and wrote. Not evaluated if a model reports none. */
  readonly tokens?: number | undefined
  /** Milliseconds. */
  readonly timeMs?: number | undefined
  /** Cost, in the unit of `price`. */
  readonly cost?: number | undefined
  /** The cost of a model call. Needed for `cost`. */
  readonly price?: ((call: { readonly agent: string; readonly usage: JsonObject }) => number) | undefined
}

/** A check of your own, or a judge. */
export interface CustomCheck {
  /** Its name in the results. */
  readonly name: string
  /** Looks at what happened. A check that throws is not evaluated. */
  check(outcome: CaseOutcome): Verdict | Promise<Verdict>
}

/** What a check says. `NOT_EVALUATED` is never a success. */
export type Status = 'PASSED' | 'FAILED' | 'NOT_EVALUATED'

/** What a check has found. */
export interface Verdict {
  /** Is it true? */
  readonly status: Status
  /** How much of it is true, from 0 to 1. */
  readonly score?: number | undefined
  /** What was expected, and what was found. */
  readonly detail?: string | undefined
}

/** A verdict with the name of its check. */
export interface CheckResult extends Verdict {
  /** The name of the check; of a check of one turn with the number of the turn. */
  readonly name: string
  /** Where a replay first differs from its recording. */
  readonly difference?: Difference | undefined
}

/** What has happened in a conversation, or in one turn of it. */
export interface CaseOutcome {
  /** The id of the case. */
  readonly id: string
  /** The rubrics of the case. */
  readonly rubrics: readonly string[]
  /** The turns. */
  readonly turns: readonly TurnOutcome[]
  /** The answer of the last turn. */
  readonly reply: string
  /** The invocations, as `readLog()` reads them. */
  readonly invocations: readonly InvocationView[]
  /** All tool calls, in order. */
  readonly calls: readonly CallView[]
  /** The state of the session at the end. */
  readonly state: JsonObject
  /** The artifacts of the session at the end, by name. */
  readonly artifacts: ReadonlyMap<string, Part | undefined>
  /** Tokens that models read and wrote. */
  readonly tokens: TokenCounts
  /** How long it took, in milliseconds. */
  readonly timeMs: number
  /** Aborts when the time of the case is over. */
  readonly signal: AbortSignal
}

/** One turn: a message of the user and everything that followed. */
export interface TurnOutcome {
  /** The message, as text. */
  readonly user: string
  /** The answer. */
  readonly reply: string
  /** The invocation of the turn. Undefined if the message started none. */
  readonly invocation: InvocationView | undefined
  /** Why it ended early. */
  readonly error: { readonly code: string; readonly message: string } | undefined
  /** How long it took, in milliseconds. */
  readonly timeMs: number
}
