// What a seed stands for: who there is, what they can do, and how bad the weather is. Data only.
import type { Effect, JsonObject } from 'toolwright'

export interface Plan {
  readonly seed: number
  readonly root: AgentSpec
  readonly tools: readonly ToolSpec[]
  readonly sessions: readonly { readonly userId: string; readonly sessionId: string }[]
  /** How many things clients do. */
  readonly actions: number
  /** How often all is resumed and answered while things still go wrong. */
  readonly restless: number
  /** How soon the next of them is done: 1 = at once, 0 = when nothing else happens. */
  readonly eagerness: number
  readonly weather: Weather
  readonly whilePaused: 'reject' | 'cancel' | 'continue' | undefined
  /** What happens more often than elsewhere: attempts that need several steps would else never come together. */
  readonly theme: 'guesses' | 'clock' | undefined
  readonly limits: Limits
  /** What a plugin of every process does to the events and requests it is given. */
  readonly tampering: 'in place' | 'later' | 'returned' | undefined
}

/** What a runner is told; a limit that is undefined is left to its default. */
export interface Limits {
  readonly argsBytes: number
  readonly callsPerReply: number | undefined
  readonly resultBytes: number
  /** Model calls of one invocation. */
  readonly llmCalls: number | undefined
}

/** How often a step goes wrong, each from 0 to 1. */
export interface Weather {
  readonly kill: number
  /** Where processes are likely to die: at a kind of append, a method of the store, or a step of a body. */
  readonly aim: string | undefined
  readonly stall: number
  /** The store fails: before it did what it was asked to, or after. */
  readonly storage: number
  readonly lostAck: number
  readonly duplicate: number
  /** A call takes longer than a lease lives. */
  readonly late: number
  /** Time passes between two steps: the most, in ms. */
  readonly slowness: number
}

export type AgentSpec = LlmSpec | WorkflowSpec

export interface LlmSpec {
  readonly type: 'llm'
  readonly name: string
  readonly tools: readonly string[]
  /** Agents it calls like tools. */
  readonly agentTools: readonly AgentSpec[]
  /** Agents it can hand over to. */
  readonly subAgents: readonly AgentSpec[]
  /** What it says, reply by reply; one script for each turn, from the first on again when there are more turns. */
  readonly scripts: readonly (readonly Reply[])[]
  readonly outputKey?: string
  readonly runsCode: boolean
  readonly parallel: boolean
  /** Model calls of this agent in one scope. */
  readonly maxIterations?: number
}

export interface WorkflowSpec {
  readonly type: 'sequential' | 'parallel' | 'loop'
  readonly name: string
  readonly children: readonly AgentSpec[]
  /** Of a loop. */
  readonly rounds: number
}

export type Reply =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'calls'; readonly calls: readonly ScriptedCall[] }
  /** Code that makes these calls, in order or all at once. */
  | {
      readonly type: 'code'
      readonly calls: readonly ScriptedCall[]
      readonly atOnce: boolean
      /** The model sends it as a part of its own, under this id, together with a call that has the same id. */
      readonly native?: { readonly id: unknown; readonly beside: ScriptedCall }
    }
  | { readonly type: 'error' }

export interface ScriptedCall {
  readonly name: string
  readonly args: unknown
  /** As the model sends it: perhaps none, perhaps one it must not have. */
  readonly id?: unknown
  /** Instead of `id`: an id that is in use, of a call the model was shown, of a request, or of the latest call anywhere. */
  readonly reuse?: 'call' | 'request' | 'elsewhere'
  /** Its arguments have this many times the bytes that the limit allows. */
  readonly fill?: number
}

/** Who must be asked before it takes effect, and how. */
export type Gate =
  | 'open'
  | 'flag'
  | 'predicate'
  /** Its predicate throws, or answers nonsense: it must be asked about. */
  | 'broken'
  /** The body asks for a yes. */
  | 'body'
  /** The body asks for a value. */
  | 'input'
  /** Somebody else gives the result, later. */
  | 'longRunning'

export interface ToolSpec {
  readonly name: string
  readonly effect: Effect
  readonly gate: Gate
  /** Waits of the body before and after it takes effect. */
  readonly before: number
  readonly after: number
  readonly does: 'answer' | 'throw' | 'hang' | 'dawdle'
  /** State it writes: keys, and whether the value is its own. */
  readonly writes: readonly string[]
  readonly editable: boolean
  readonly sequential: boolean
  readonly timeoutMs?: number
  readonly expiresInMs?: number
  /** What its `cancel` does; undefined = it has none. */
  readonly cancel?: 'answer' | 'throw' | 'hang'
  /** Its result has this many times the bytes that the limit allows. */
  readonly resultFill?: number
}

/** Does a call with these arguments wait for somebody's yes? */
export function needsYes({ gate }: ToolSpec, args: JsonObject): boolean {
  if (gate === 'predicate') return typeof args.n === 'number' && args.n % 2 === 1
  return gate === 'flag' || gate === 'broken' || gate === 'body'
}
