import { describeError } from '../api/api-error.ts'
import { listTools } from '../api/dev.ts'
import type { GraphAgent } from '../api/types.ts'
import type { ToolRow } from './layout.ts'

/** The names of the tools that an agent has for the user, by the name of the agent; a text if they cannot be listed. */
export type ListedTools = ReadonlyMap<string, readonly string[] | string>

/** Who lists the tools. */
export interface ListingOptions {
  /** The app. */
  readonly app: string
  /** The user: what a toolset lists may depend on it. */
  readonly userId: string
  /** Stops listing. */
  readonly signal: AbortSignal
}

/** Lists the tools of the agents that have toolsets, one agent after another. Yields what is known after each. */
export async function* listToolsets(root: GraphAgent, options: ListingOptions): AsyncGenerator<ListedTools, void> {
  const { app, userId, signal } = options
  const listed = new Map<string, readonly string[] | string>()
  for (const agent of agentsWithToolsets(root)) {
    const names = await listTools({ app, agent, userId }).then(
      (tools) => tools.map(({ name }) => name),
      (error: unknown) => describeError(error),
    )
    if (signal.aborted) return
    yield new Map(listed.set(agent, names))
  }
}

/** The rows of an agent: its tools, then its toolsets with what they list. */
export function rowsOf({ name, tools = [] }: GraphAgent, listed: ListedTools): readonly ToolRow[] {
  const toolsets = tools.filter(({ type }) => type === 'Toolset')
  if (toolsets.length === 0) return tools
  const own = tools.filter(({ type }) => type !== 'Toolset')
  const known = new Set(own.map((tool) => tool.name))
  return [...own, ...toolsets, ...listedRows(listed.get(name), known)]
}

function listedRows(names: readonly string[] | string | undefined, known: ReadonlySet<string>): readonly ToolRow[] {
  if (names === undefined) return [{ name: 'Listing its tools…', type: '', isListed: true }]
  if (typeof names === 'string') return [{ name: names, type: '', isListed: true }]
  const rows = names.filter((name) => !known.has(name)).map((name) => ({ name, type: 'FunctionTool', isListed: true }))
  return rows.length > 0 ? rows : [{ name: 'lists no tools now', type: '', isListed: true }]
}

function agentsWithToolsets(root: GraphAgent): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = ({ name, tools = [], sub_agents: children = [] }: GraphAgent): void => {
    if (tools.some(({ type }) => type === 'Toolset')) found.add(name)
    for (const { agent } of tools) if (agent) visit(agent)
    for (const child of children) visit(child)
  }
  visit(root)
  return found
}
