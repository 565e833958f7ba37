import type { JsonObject } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import type { Run } from '../../../engine/runner/run/run-handle.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import { CallRunner } from '../../../engine/runner/single-call/call-runner.ts'
import { mapTools } from '../../../engine/tool/map-tools.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import { findAgents, type PlacedAgent } from '../graph/find-agents.ts'
import { inheritedModel } from '../graph/inherited-model.ts'
import { invalid } from '../wire/fields.ts'
import { sharedServices } from './shared-services.ts'
import type { SignedSessions } from './signed-sessions.ts'

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

/** Runs single tool calls of an app for its developer, with the gates, services and callbacks of the app. */
export class ToolBench {
  readonly #runner: Runner
  readonly #agents: ReadonlyMap<string, PlacedAgent>
  readonly #calls: Map<string, CallRunner> = new Map()
  /** The names of the toolsets that have listed tools. */
  readonly #toolsets: WeakMap<Tool, string> = new WeakMap()
  readonly #sessions: SignedSessions
  readonly #prepare: (runner: Runner) => void

  /** `prepare`: called with each runner that the bench makes. */
  constructor(runner: Runner, sessions: SignedSessions, prepare: (runner: Runner) => void) {
    this.#runner = runner
    this.#sessions = sessions
    this.#prepare = prepare
    this.#agents = findAgents(runner.agent)
  }

  /** The tools of an agent that a user can call. Throws `NOT_FOUND` if there is no such agent. */
  async tools(agent: string, userId: string): Promise<Tool[]> {
    // if the process dies, the session is known as one of the tool bench: the model of the app must not continue it
    const calls = this.#callsOf(agent)
    const tools = await calls.list({ userId, sessionId: await this.#sessions.newSessionId(agent, userId) })
    return [...tools.values()].filter((tool) => tool.declaration() !== undefined)
  }

  /** The toolset that a tool of `tools()` comes from; undefined if the agent has the tool itself. */
  toolsetOf(tool: Tool): string | undefined {
    return this.#toolsets.get(tool)
  }

  /** Throws INVALID_REQUEST if callbacks may refuse calls of an agent, which only a run of the agent asks. */
  checkUnguarded(agent: string): void {
    const own = this.#agents.get(agent)?.agent
    const plugin = this.#runner.options.plugins?.find(({ beforeTool }) => beforeTool)
    const has =
      own instanceof LlmAgent && own.options.beforeTool ? `Agent "${agent}"` : plugin && `Plugin "${plugin.name}"`
    if (has) throw invalid(`${has} has beforeTool, which this test would not ask. Use chaos() in a test of your own.`)
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
      tools: [
        mapTools(own?.tools ?? [], (tool, toolset) => {
          if (toolset !== undefined) this.#toolsets.set(tool, toolset)
          return tool
        }),
      ],
      beforeTool: own?.beforeTool,
      afterTool: own?.afterTool,
      onToolError: own?.onToolError,
    })
    this.#prepare(calls.runner)
    this.#calls.set(name, calls)
    return calls
  }
}
