// The plan of a seed: sessions, agents, tools and the probabilities of faults. Plain data.
import type { Effect, JsonObject } from 'toolwright'

export interface Plan {
  readonly seed: number
  readonly root: AgentSpec
  readonly tools: readonly ToolSpec[]
  readonly sessions: readonly { readonly userId: string; readonly sessionId: string }[]
  /** The number of client actions. */
  readonly actions: number
  /** How often everything is resumed and answered while faults still happen. */
  readonly restless: number
  /** How soon the next action follows: 1 = immediately, 0 = when no task is left. */
  readonly eagerness: number
  readonly faultRates: FaultRates
  readonly whilePaused: 'reject' | 'cancel' | 'continue' | undefined
  /** Actions that are more frequent in this plan, so that attacks with several steps happen. */
  readonly theme: 'guesses' | 'clock' | undefined
  readonly limits: Limits
  /** How a plugin in every process changes events and requests. */
  readonly tampering: 'in place' | 'later' | 'returned' | undefined
  /** Whether sessions are forked, imported and copied. */
  readonly copies: boolean
}

/** Limits of the runner. Undefined means the default. */
export interface Limits {
  readonly argsBytes: number
  readonly callsPerReply: number | undefined
  readonly resultBytes: number
  /** The most model calls of one invocation. */
  readonly llmCalls: number | undefined
}

/** The probabilities of faults at a step, from 0 to 1. */
export interface FaultRates {
  readonly kill: number
  /** The step at which processes are likely to die: a kind of append, a method of the store, or a step of a body. */
  readonly aim: string | undefined
  readonly stall: number
  /** The store fails before or after it performed a call. */
  readonly storage: number
  readonly lostAck: number
  readonly duplicate: number
  /** A call of the store takes longer than a lease. */
  readonly late: number
  /** The most time between two steps, in milliseconds. */
  readonly slowness: number
}

export type AgentSpec = LlmSpec | WorkflowSpec

export interface LlmSpec {
  readonly type: 'llm'
  readonly name: string
  readonly tools: readonly string[]
  /** Its agent tools. */
  readonly agentTools: readonly AgentSpec[]
  /** Agents it can transfer to. */
  readonly subAgents: readonly AgentSpec[]
  /** Its replies, one script for each turn. Later turns start again with the first script. */
  readonly scripts: readonly (readonly Reply[])[]
  readonly outputKey?: string
  readonly runsCode: boolean
  readonly parallel: boolean
  /** The most model calls of this agent in one scope. */
  readonly maxIterations?: number
}

export interface WorkflowSpec {
  readonly type: 'sequential' | 'parallel' | 'loop'
  readonly name: string
  readonly children: readonly AgentSpec[]
  /** The number of rounds of a loop. */
  readonly rounds: number
}

export type Reply =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'calls'; readonly calls: readonly ScriptedCall[] }
  /** Code that makes these calls, one after another or at the same time. */
  | {
      readonly type: 'code'
      readonly calls: readonly ScriptedCall[]
      readonly atOnce: boolean
      /** The model sends the code as a native part with this id, beside a call with the same id. */
      readonly native?: { readonly id: unknown; readonly beside: ScriptedCall }
    }
  | { readonly type: 'error' }

export interface ScriptedCall {
  readonly name: string
  readonly args: unknown
  /** The id that the model sends: missing, valid or invalid. */
  readonly id?: unknown
  /** Instead of `id`, an id in use: of a call the model has seen, of a request, or of the latest call in any session. */
  readonly reuse?: 'call' | 'request' | 'elsewhere'
  /** The size of its arguments as a multiple of the limit. */
  readonly fill?: number
}

/** How a tool asks before it takes effect. */
export type Gate =
  | 'open'
  | 'flag'
  | 'predicate'
  /** The predicate throws or returns no boolean, so a confirmation is required. */
  | 'broken'
  /** The body requests a confirmation. */
  | 'body'
  /** The body requests input. */
  | 'input'
  /** A client sends the result later. */
  | 'longRunning'

export interface ToolSpec {
  readonly name: string
  readonly effect: Effect
  readonly gate: Gate
  /** The number of waits of the body before and after its effect. */
  readonly before: number
  readonly after: number
  readonly does: 'answer' | 'throw' | 'hang' | 'dawdle'
  /** The state keys it writes. */
  readonly writes: readonly string[]
  readonly editable: boolean
  readonly sequential: boolean
  readonly timeoutMs?: number
  readonly expiresInMs?: number
  /** What its `cancel` does. Undefined: it has no `cancel`. */
  readonly cancel?: 'answer' | 'throw' | 'hang'
  /** The size of its result as a multiple of the limit. */
  readonly resultFill?: number
}

/** Whether a call with these arguments requires an approval. */
export function needsApproval({ gate }: ToolSpec, args: JsonObject): boolean {
  if (gate === 'predicate') return typeof args.n === 'number' && args.n % 2 === 1
  return gate === 'flag' || gate === 'broken' || gate === 'body'
}
