// What is evaluated: sets of cases, as plain data. Only sets in code hold functions: matchers, and checks of your own.
import type { JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { Agent } from '../../../engine/agent/agents/agent.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { Check, ExpectedCall } from '../checks/check.ts'
import type { Expected } from '../checks/matches.ts'
import type { EvalCriteria } from '../criteria/criteria.ts'
import type { Recording } from '../recording/recording.ts'
import type { Fault } from '../run/faults.ts'

/** Cases that are evaluated together. */
export interface EvalSet {
  /** The id of the set. Results name a case `set/case`. */
  readonly id: string
  /** A title for people. */
  readonly name?: string | undefined
  /** What the cases are about. */
  readonly description?: string | undefined
  /** The agent, or a runner with its services. Default: the one that the caller or the command names. */
  readonly agent?: Agent | Runner | undefined
  /** Checks of every case, besides its own. */
  readonly checks?: readonly Check[] | undefined
  /** ADK's criteria. They decide what the `calls` and `reply` of turns mean. Default: each turn must make its calls and give a similar answer. */
  readonly criteria?: EvalCriteria | undefined
  /** The cases. */
  readonly cases: readonly EvalCase[]
}

/** One conversation, and what must be true of it. It has either `turns` or a `scenario`. */
export interface EvalCase {
  /** The id of the case, unique in its set. */
  readonly id: string
  /** What the user sends, message by message, with what is expected of each answer. */
  readonly turns?: readonly EvalTurn[] | undefined
  /** A user that a model plays, instead of fixed messages. */
  readonly scenario?: EvalScenario | undefined
  /** The session that the conversation starts with. Default: a new one without state. */
  readonly session?: EvalSession | undefined
  /** Answers to the requests of gates and tools. The first one that fits counts. Default: every request is denied. */
  readonly answers?: readonly EvalAnswer[] | undefined
  /** What must be true at the end, besides what the turns expect. */
  readonly checks?: readonly Check[] | undefined
  /** State that the session must have at the end. Other keys may have any value. */
  readonly finalState?: Expected | undefined
  /** What judges look at, besides their own rubric. */
  readonly rubrics?: readonly string[] | undefined
  /** Faults that tools have on purpose. */
  readonly inject?: readonly Fault[] | undefined
  /** How long the case may take, in milliseconds. Default: that of the run. */
  readonly timeLimitMs?: number | undefined
  /** What happened when the case was recorded: `--replay` and `--recorded-tools` need it. */
  readonly recording?: Recording | undefined
}

/** A message of the user, and what is expected of the answer. */
export interface EvalTurn {
  /** Text, or parts such as media. */
  readonly user: string | readonly Part[]
  /** The tool calls, in order: ADK's `tool_uses`. Default: any. */
  readonly calls?: readonly ExpectedCall[] | undefined
  /** A reference answer: ADK's `final_response`. Its ROUGE-1 similarity must be 0.8. Default: any answer. */
  readonly reply?: string | undefined
  /** Checks of this turn. */
  readonly checks?: readonly Check[] | undefined
}

/** ADK's conversation scenario: a model plays the user. */
export interface EvalScenario {
  /** The first message. */
  readonly startingPrompt: string
  /** What the user wants, and how to go on. */
  readonly conversationPlan: string
  /** Who the user is. */
  readonly persona?: string | undefined
  /** Most messages of the user, at most 20. Default 20. */
  readonly maxTurns?: number | undefined
}

/** The session of a case. */
export interface EvalSession {
  /** The user. Default `eval-user`. */
  readonly userId?: string | undefined
  /** The id of the session. Default: a new one. */
  readonly sessionId?: string | undefined
  /** The state at the start, with `user:` and `app:` keys. */
  readonly state?: JsonObject | undefined
}

/** An answer to requests. Without `approve`, `deny` and `respond` it denies. */
export interface EvalAnswer {
  /** Only requests about this tool. Default: any tool. */
  readonly tool?: string | undefined
  /** Only requests of this kind. Default: any kind. */
  readonly kind?: PendingRequest['kind'] | undefined
  /** Only requests with this key. Default: any. */
  readonly key?: string | undefined
  /** Only calls with these arguments. Default: any. */
  readonly args?: Expected | undefined
  /** Answers one request only. Default: all that fit. */
  readonly once?: boolean | undefined
  /** Approves, with a payload or edited arguments. */
  readonly approve?: true | { readonly payload?: unknown; readonly args?: JsonObject } | undefined
  /** Denies, with a reason that the model sees. */
  readonly deny?: true | string | undefined
  /** Answers an input, or sends the result of a long-running call. */
  readonly respond?: unknown
}

/** Most messages of a user that a model plays. */
export const MAX_USER_TURNS = 20
