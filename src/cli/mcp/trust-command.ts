import { parseArgs } from 'node:util'
import type { Agent } from '../../agent/agents/agent.ts'
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import type { McpToolset } from '../../mcp/mcp-toolset.ts'
import { isToolset } from '../../tool/toolset.ts'
import { innermostToolset } from '../../tool/wrap-toolset.ts'
import { loadAgentFile } from '../load/agent-file.ts'
import { loadEnvFile } from '../load/env-file.ts'
import { servedAgent } from '../load/served-agent.ts'
import { optionProblem } from '../option-problem.ts'
import { escapeText } from '../screen/escape.ts'
import { type Terminal, UsageError } from '../terminal.ts'
import { terminalLogger } from '../terminal-logger.ts'

/** The help text of `toolwright mcp trust`. */
export const trustUsage = `toolwright mcp trust <file> [tool ...]

Lists the tools of the MCP servers that the agent in a file uses, and whether their definitions are trusted. A tool whose
definition has changed is quarantined: models do not see it. Name tools to trust their definitions as they are now.

  --all          Trust every quarantined tool
  --app <name>   App the pins belong to (default: the file name)
  --db <file>    The SQLite file with the pins, unless the file exports a Runner
  --help         Show this help
`

const options = { all: { type: 'boolean' }, app: { type: 'string' }, db: { type: 'string' } } as const

/** Runs `toolwright mcp trust`. Returns 1 if a tool is still quarantined. */
export async function trustCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { file, names, all, app, db } = parseTrustArguments(args)
  loadEnvFile(terminal.folder, terminal.env)
  const served = await servedAgent(await loadAgentFile(file), { file, app, db }, terminalLogger(terminal))
  const { appName, sessionService } = served.options
  if (!sessionService)
    throw new UsageError('The pins are in the session store. Pass --db, or export a Runner with a sessionService.')
  const toolsets = mcpToolsetsOf(served.agent)
  if (toolsets.length === 0) throw new UsageError(`The agent in "${file}" uses no McpToolset.`)
  const store = { appName, sessionService }
  const unknown = new Set(names)
  let isQuarantined = false
  try {
    for (const toolset of toolsets) {
      for (const { name, hash, trusted } of await toolset.definitions(store)) {
        unknown.delete(name)
        const isWanted = !trusted && (all || names.includes(name))
        if (isWanted) await toolset.trust(name, hash, store)
        else if (!trusted) isQuarantined = true
        const state = isWanted ? 'trusted now' : trusted ? 'trusted' : 'quarantined'
        terminal.output.write(`${escapeText(toolset.name)}  ${escapeText(name)}  ${hash.slice(0, 12)}  ${state}\n`)
      }
    }
    if (unknown.size)
      throw new UsageError(`No server lists the tool ${[...unknown].map((name) => `"${name}"`).join(', ')}.`)
    if (isQuarantined)
      terminal.errors.write('Name a quarantined tool to trust its definition as it is now, or pass --all.\n')
    return isQuarantined ? 1 : 0
  } finally {
    await Promise.all(toolsets.map((toolset) => toolset.shutdown()))
    served.close()
  }
}

/** The MCP toolsets of an agent and its sub-agents, each once. */
function mcpToolsetsOf(agent: Agent): McpToolset[] {
  const found = new Set<McpToolset>()
  const visit = (one: Agent): void => {
    for (const source of one instanceof LlmAgent ? one.dynamicTools : []) {
      const toolset = isToolset(source) ? innermostToolset(source) : undefined
      if (isMcpToolset(toolset)) found.add(toolset)
    }
    one.subAgents?.forEach(visit)
  }
  visit(agent)
  return [...found]
}

/** Is it an `McpToolset`? The agent file may have loaded another copy of the class. */
function isMcpToolset(value: unknown): value is McpToolset {
  const { definitions, trust } = (value ?? {}) as Partial<McpToolset>
  return typeof definitions === 'function' && typeof trust === 'function'
}

interface TrustArguments {
  readonly file: string
  readonly names: readonly string[]
  readonly all: boolean
  readonly app: string | undefined
  readonly db: string | undefined
}

function parseTrustArguments(args: readonly string[]): TrustArguments {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [file, ...names] = positionals
    if (file) return { file, names, all: values.all ?? false, app: values.app, db: values.db }
  } catch (error) {
    throw new UsageError(optionProblem(error))
  }
  throw new UsageError('Pass an agent file. Usage: toolwright mcp trust <file> [tool ...]')
}
