import type { JsonObject } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import type { Run } from '../../../engine/runner/run/run-handle.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import { CallRunner } from '../../../engine/runner/single-call/call-runner.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import { findAgents, type PlacedAgent } from '../graph/find-agents.ts'
import { inheritedModel } from '../graph/inherited-model.ts'
import type { CallNotes } from '../trace/call-notes.ts'
import type { RecentStacks } from '../trace/recent-stacks.ts'
import type { BenchSessions } from './bench-session.ts'

/** A call that a developer makes. */
interface BenchCall {
  /** The user the tool acts for. */
  readonly userId: string
  /** The agent that has the tool. */
  readonly agent: string
  /** The tool. */
  readonly tool: string
  /** The arguments. */
  readonly args: JsonObject
}

/** Where a tool bench keeps what its calls do. */
interface BenchRecords {
  /** The stacks of errors. */
  readonly stacks: RecentStacks
  /** What happens in calls. */
  readonly notes: CallNotes
}

/** Runs single tool calls of an app for its developer, with the gates, services and callbacks of the app. */
export class ToolBench {
  readonly #runner: Runner
  readonly #agents: ReadonlyMap<string, PlacedAgent>
  readonly #calls: Map<string, CallRunner> = new Map()

  readonly #sessions: BenchSessions
  readonly #records: BenchRecords

  constructor(runner: Runner, sessions: BenchSessions, records: BenchRecords) {
    this.#runner = runner
    this.#sessions = sessions
    this.#records = records
    this.#agents = findAgents(runner.agent)
  }

  /** The tools of an agent that a user can call. Throws `NOT_FOUND` if there is no such agent. */
  async tools(agent: string, userId: string): Promise<Tool[]> {
    // if the process dies, the session is known as one of the tool bench: the model of the app must not continue it
    const calls = this.#callsOf(agent)
    const tools = await calls.list({ userId, sessionId: await this.#sessions.newSessionId(agent, userId) })
    return [...tools.values()].filter((tool) => tool.declaration() !== undefined)
  }

  /** Starts a call in a session of its own. */
  async start({ userId, agent, tool, args }: BenchCall, signal?: AbortSignal): Promise<Run> {
    const calls = this.#callsOf(agent)
    const sessionId = await this.#sessions.newSessionId(agent, userId)
    return calls.start({ name: tool, args }, { userId, sessionId, signal })
  }

  /** The runner of the session of a call; undefined for other sessions. */
  async runnerOf(session: { readonly userId: string; readonly sessionId: string }): Promise<Runner | undefined> {
    const agent = await this.#sessions.agentOf(session)
    return agent !== undefined && this.#agents.has(agent) ? this.#callsOf(agent).runner : undefined
  }

  /** Cancels all calls. */
  async close(): Promise<void> {
    await Promise.all([...this.#calls.values()].map((calls) => calls.close()))
  }

  #callsOf(name: string): CallRunner {
    const placed = this.#agents.get(name)
    if (!placed) throw new ToolwrightError('NOT_FOUND', `The app has no agent "${name}". GET /dev/info lists the apps.`)
    const known = this.#calls.get(name)
    if (known) return known
    const { agent: _, whilePaused: _2, media: _3, phases: _4, ...options } = this.#runner.options
    const { agent } = placed
    const own = agent instanceof LlmAgent ? agent.options : undefined
    const calls = new CallRunner({
      ...options,
      ...sharedServices(this.#runner),
      model: inheritedModel(placed, options),
      agentName: name,
      tools: own?.tools ?? [],
      beforeTool: own?.beforeTool,
      afterTool: own?.afterTool,
      onToolError: own?.onToolError,
    })
    const { stacks, notes } = this.#records
    calls.runner.internals.observeThrown((thrown) => stacks.add(thrown))
    calls.runner.internals.observe(notes)
    this.#calls.set(name, calls)
    return calls
  }
}

/** The services that the runner made itself, so that calls use the same ones. */
function sharedServices({
  sessionService,
  credentialService,
}: Runner): Pick<Runner, 'sessionService' | 'credentialService'> {
  return { sessionService, credentialService }
}
