// The tool of a recorded call outside the loop, where nothing may be requested from the user.

import { loadLater } from '../../../core/base/load-later.ts'
import type { AuthConfig } from '../../../core/content/auth.ts'
import type { Fold } from '../../../core/event/fold.ts'
import type { CallState } from '../../../core/event/invocation-state.ts'
import { checkAuthConfig } from '../../../services/auth/config/check-auth-config.ts'
import { credentialKeyOf } from '../../../services/auth/config/credential-key.ts'
import type { ReadonlyContext } from '../../context/context.ts'
import { authServicesOf } from '../../context/credentials.ts'
import type { InvocationHost } from '../../context/invocation-host.ts'
import { readonlyContext } from '../../context/readonly-context.ts'
import type { ToolEntry, ToolTable } from '../../dispatch/resolve.ts'
import { refreshToolTable } from '../../dispatch/resolve.ts'
import type { Toolset } from '../../tool/toolset.ts'
import type { AgentTree } from '../agents/agent-tree.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import { listTools } from '../request/list-tools.ts'
import { treeAt } from './find-tool.ts'
import type { LoopServices, RunProgress } from './run-host.ts'

const resolver = loadLater(() => import('../../../services/auth/resolve-credential.ts'))

/** Where the tools of a recorded call come from. */
export interface ToolOwner {
  /** The agents of the runner. */
  readonly tree: AgentTree
  /** What all runs of the runner share. */
  readonly services: Pick<LoopServices, 'keptToolsets' | 'ports' | 'logger'>
  /** The user and the session, for toolsets. */
  readonly host: InvocationHost
  /** What the run under way has listed; undefined without one. */
  readonly progress?: Pick<RunProgress, 'tables'> | undefined
}

/** The agent whose model made a call, and its tools. */
export interface FoundTools {
  /** The tree of the agent. */
  readonly tree: AgentTree
  /** The agent. */
  readonly agent: LlmAgent
  /** Its tools now. */
  readonly table: ToolTable
}

/** The tool of a call, also if a toolset has it. Undefined if it no longer exists, or its toolset needs a consent first. */
export async function findEntry(owner: ToolOwner, fold: Fold, call: CallState): Promise<ToolEntry | undefined> {
  return (await findTools(owner, fold, call))?.table.entries.get(call.name)
}

/** The tools of the agent that made a call. Undefined if it no longer exists. */
export async function findTools(owner: ToolOwner, fold: Fold, call: CallState): Promise<FoundTools | undefined> {
  const tree = treeAt(owner.tree, fold, call.path)
  const agent = tree?.find(call.agent)
  if (!tree || !(agent instanceof LlmAgent) || call.isCode) return undefined
  const branch = fold.scopes.get(call.path)?.branch
  const table = owner.progress?.tables?.get(agent) ?? (await listCurrent(owner, tree, agent, branch))
  return { tree, agent, table }
}

function listCurrent(
  { services, host }: ToolOwner,
  tree: AgentTree,
  agent: LlmAgent,
  branch: string | undefined,
): ToolTable | Promise<ToolTable> {
  const { keptToolsets: kept, ports, logger } = services
  const table = refreshToolTable(tree.plan(agent).table, logger)
  const contextFor = async ({ name }: Toolset, authConfig: AuthConfig): Promise<ReadonlyContext> => {
    const config = checkAuthConfig(authConfig, `Toolset "${name}"`)
    const { resolveCredential } = await resolver()
    const outcome = await resolveCredential(authServicesOf(host), await credentialKeyOf(config), config)
    if (outcome.status !== 'ready') throw new Error('its credential is missing')
    return readonlyContext(host, agent.name, branch, outcome.credential)
  }
  const context = readonlyContext(host, agent.name, branch)
  return listTools(agent.dynamicTools, table, {
    context,
    kept,
    ports,
    contextFor,
    report: (problem) => logger.warn(problem),
  })
}
