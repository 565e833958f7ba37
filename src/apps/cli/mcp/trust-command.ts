import { escapeText } from '../../../core/base/escape.ts'
import type { Command, CommandLine, CommandOptions } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { storeOptions } from '../command/store-options.ts'
import { loadAgentFile } from '../load/agent-file.ts'
import { databaseFor } from '../load/create-runner.ts'
import { loadEnvFile } from '../load/env-file.ts'
import { servedAgent } from '../load/served-agent.ts'
import { withProgress } from '../screen/progress.ts'
import { type Terminal, UsageError } from '../terminal.ts'
import { terminalLogger } from '../terminal-logger.ts'
import { mcpToolsetsOf } from './mcp-toolsets-of.ts'

const options = {
  all: { type: 'boolean', description: 'Trust every quarantined tool' },
  ...storeOptions,
  db: {
    ...storeOptions.db,
    description:
      'The SQLite file with the pins, unless the file exports a Runner (default: .toolwright/<app>.db, as for web and run)',
  },
} as const satisfies CommandOptions

/** `toolwright mcp trust`. */
export const trustCommand: Command = defineCommand({
  name: 'mcp trust',
  summary: 'Trust changed tools of MCP servers that the agent uses',
  usage: '<file> [tool ...]',
  description: [
    'Lists the tools of the MCP servers that the agent in a file uses, and whether their definitions are trusted. A tool whose definition has changed is quarantined: models do not see it. Name tools to trust their definitions as they are now.',
  ],
  options,
  examples: [
    ['toolwright mcp trust agent.ts', 'list the tools and whether they are trusted'],
    ['toolwright mcp trust agent.ts delete_notes', 'trust one definition as it is now'],
  ],
  exitCodes: { 1: 'failure, or a tool is still quarantined' },
  run,
})

async function run({ values, positionals }: CommandLine<typeof options>, terminal: Terminal): Promise<number> {
  const [file, ...names] = positionals
  if (!file) throw new UsageError('Pass an agent file. Usage: toolwright mcp trust <file> [tool ...]')
  const { all = false, app, db } = values
  loadEnvFile(terminal.folder, terminal.env)
  const exports = await loadAgentFile(file)
  const storage = databaseFor(exports, { file, app, db }, terminal.folder)
  const served = await servedAgent(exports, storage, terminalLogger(terminal))
  const { appName, sessionService } = served.options
  if (!sessionService)
    throw new UsageError('The pins are in the session store, and the Runner has none. Give it a sessionService.')
  const toolsets = mcpToolsetsOf(served.agent)
  if (toolsets.length === 0) throw new UsageError(`The agent in "${file}" uses no McpToolset.`)
  const store = { appName, sessionService }
  const unknown = new Set(names)
  let isQuarantined = false
  try {
    for (const toolset of toolsets) {
      const listing = `Listing the tools of ${toolset.name}`
      const definitions = await withProgress(terminal, listing, () => toolset.definitions(store))
      for (const { name, hash, trusted } of definitions) {
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
