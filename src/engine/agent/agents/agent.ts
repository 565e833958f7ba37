import type { Rule } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Event } from '../../../core/event/event.ts'
import type { CallbackContext } from '../../context/context.ts'

/** The member of the context that runs a built-in agent as a scope of the current run. */
export const RUN_SCOPE: unique symbol = Symbol('toolwright.runScope')

/** The argument of `run` of an agent. */
export interface InvocationContext extends CallbackContext {
  /** The path of the scope this agent runs in. */
  readonly path: string
  /**
   * The events recorded in this scope so far. A resumed agent runs again from the start and finds its earlier events
   * here.
   */
  readonly events: readonly Event[]
  /** Aborted when the run stops. */
  readonly signal: AbortSignal
  /** @internal Runs a built-in agent in a scope below this one. */
  readonly [RUN_SCOPE]: (agent: Agent) => AsyncIterable<Event>
}

/**
 * An agent. To write your own, implement `run`: the events it yields (see `createEvent`) are recorded, and
 * `child.run(context)` runs another agent inside it.
 */
export interface Agent<Output = unknown> {
  /** Unique among sibling agents; author of the agent's events. */
  readonly name: string
  /** What the agent does, for other agents that may transfer to it. */
  readonly description?: string | undefined
  /** The children of the agent. */
  readonly subAgents?: readonly Agent[] | undefined
  /** Runs the agent and yields its events. The runner calls it. */
  run(context: InvocationContext): AsyncIterable<Event>
  /** The type of the agent's answer, for the type checker only. The member does not exist at run time. */
  readonly $output?: Output
}

/** Is the value an agent, that is, an object with a `run` method? */
export function isAgent(value: unknown): value is Agent {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Agent>).run === 'function'
}

/** The option rule for a list of agents. */
export const agents: Rule = {
  expects: 'a list of agents',
  accepts: (value) => Array.isArray(value) && value.every(isAgent),
}

/**
 * Returns the sub-agents of an agent. Checks them, because a custom agent has no constructor that checks its options.
 */
export function subAgentsOf(agent: Agent): readonly Agent[] {
  const subAgents = agent.subAgents ?? []
  if (agents.accepts(subAgents)) return subAgents
  const message = `The subAgents of agent "${agent.name}" must be ${agents.expects}, each with a name and a run method.`
  throw new ToolwrightError('INVALID_CONFIG', message)
}

/** What is printed of an agent: names, because tools, models and options may hold secrets. */
export function shownAgent({ name, description, subAgents = [] }: Agent): object {
  return { name, ...(description !== undefined && { description }), subAgents: subAgents.map((agent) => agent.name) }
}

/**
 * Throws if the name is not valid. Names are parts of scope paths, so `/` and `@` are not allowed. `user` is the author
 * of user messages.
 */
export function checkAgentName(name: unknown): void {
  if (typeof name === 'string' && name !== 'user' && /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/.test(name)) return
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `"${String(name)}" is not a valid agent name. A name starts with a letter or "_", has only letters, digits, "_" and "-", at most 128 characters, and is not "user".`,
  )
}
