// The tools of an agent file for callers that are not its model: MCP clients and the command line.
import type { Agent } from '../../../engine/agent/agents/agent.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import type { Logger } from '../../../engine/dispatch/host.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import type { CallCallbacks, CallRunnerOptions } from '../../../engine/runner/single-call/call-runner.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import type { ToolSource } from '../../../engine/tool/tool-source.ts'
import { InMemoryArtifactService } from '../../../services/artifact/in-memory.ts'
import { InMemoryMemoryService } from '../../../services/memory/in-memory.ts'
import { InMemorySessionService } from '../../../services/session/in-memory.ts'
import type { SessionService } from '../../../services/session/service.ts'
import { mcpToolsetsOf } from '../mcp/mcp-toolsets-of.ts'
import { modelsForCalls } from '../models.ts'
import type { AgentFile } from './agent-file.ts'
import { defaultDatabase } from './app-database.ts'
import { type AppStorage, appNameOf, checkOwnStore } from './create-runner.ts'
import { openStore } from './open-store.ts'

/** The agent of a file and its tools, with the services they run on. */
export interface ServedAgent {
  /** The agent. */
  readonly agent: Agent
  /** The tools of the agent. */
  readonly tools: readonly ToolSource[]
  /** The app, the services, the limits and the callbacks of the calls. */
  readonly options: Omit<CallRunnerOptions, 'agentName' | 'tools'>
  /** Closes the database. */
  close(): void
}

/** The store of single calls. */
interface CallStorage extends AppStorage {
  /** The working directory: without `db`, the calls keep to the pins of the database that `web` and `run` have there. Default: no pins. */
  readonly pinsFolder?: string | undefined
}

/** Takes the agent, the tools and the services of an agent file. */
export async function servedAgent({ root }: AgentFile, storage: CallStorage, logger: Logger): Promise<ServedAgent> {
  const { file, app } = storage
  if (root instanceof Runner) {
    checkOwnStore(root, storage)
    const { agent, whilePaused: _, media: _2, ...options } = root.options
    return { agent, tools: toolsOf(agent), options: { ...options, ...callbacksOf(agent) }, close: () => {} }
  }
  const stored = await openStore(storage, logger)
  const pinned = stored ? undefined : await openPins(root, storage, logger)
  const options = {
    appName: app ?? appNameOf(file),
    artifactService: new InMemoryArtifactService(),
    memoryService: new InMemoryMemoryService(),
    ...stored,
    ...(pinned && { sessionService: pinned.sessionService }),
    models: await modelsForCalls(root),
    logger,
    ...callbacksOf(root),
  }
  return { agent: root, tools: toolsOf(root), options, close: () => (stored ?? pinned)?.close() }
}

/** The pins of the app, with sessions in memory. Undefined if the agents use no MCP server: then nothing is created. */
async function openPins(
  root: Agent,
  { file, app, pinsFolder }: CallStorage,
  logger: Logger,
): Promise<{ sessionService: SessionService; close(): void } | undefined> {
  if (pinsFolder === undefined || mcpToolsetsOf(root).length === 0) return undefined
  const store = await openStore({ db: defaultDatabase(pinsFolder, app ?? appNameOf(file)), isDefault: true }, logger)
  if (!store) return undefined
  return {
    sessionService: Object.assign(new InMemorySessionService(), { pins: store.sessionService.pins }),
    close: () => store.close(),
  }
}

/** The tools of an agent, those of its toolsets included. */
export function toolsOf(agent: Agent): readonly ToolSource[] {
  return agent instanceof LlmAgent ? (agent.options.tools ?? []) : []
}

/** The callbacks of the agent apply to its tools also when another caller calls them. They do not guard the agent itself. */
export function callbacksOf(agent: Agent): CallCallbacks {
  if (!(agent instanceof LlmAgent)) return {}
  const { beforeTool, afterTool, onToolError } = agent.options
  const forTools = <Call extends { tool: Pick<Tool, 'name'> }, Result>(
    given: ((call: Call) => Result) | readonly ((call: Call) => Result)[] | undefined,
  ): ((call: Call) => Result | undefined)[] =>
    [given ?? []].flat().map((callback) => (call) => (call.tool.name === agent.name ? undefined : callback(call)))
  return { beforeTool: forTools(beforeTool), afterTool: forTools(afterTool), onToolError: forTools(onToolError) }
}
