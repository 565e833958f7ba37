import type { McpService } from '../../../adapters/mcp/serve/serve-mcp.ts'
import { loadPeerByName } from '../../../core/error/load-peer.ts'
import type { Command, CommandLine, CommandOptions } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { parsePort } from '../command/parse-command-line.ts'
import { callStoreOptions } from '../command/store-options.ts'
import { createInterrupts } from '../input/interrupts.ts'
import { loadAgentFile } from '../load/agent-file.ts'
import { readDatabase } from '../load/app-database.ts'
import { loadEnvFile } from '../load/env-file.ts'
import { type ServedAgent, servedAgent } from '../load/served-agent.ts'
import { withProgress } from '../screen/progress.ts'
import { takeStandardOutput } from '../screen/take-standard-output.ts'
import { type Terminal, UsageError } from '../terminal.ts'
import { terminalLogger } from '../terminal-logger.ts'
import { trustCommand } from './trust-command.ts'

const options = {
  http: { type: 'boolean', description: 'Serve over HTTP on this machine instead, until Ctrl+C' },
  port: { type: 'string', value: '<number>', description: 'Port for --http (default: a free port)' },
  ...callStoreOptions,
  user: { ...callStoreOptions.user, description: 'User the tools act for (default: local)' },
} as const satisfies CommandOptions

/** `toolwright mcp`. */
export const mcpCommand: Command = defineCommand({
  name: 'mcp',
  summary: 'Serve the agent in a file to MCP clients, or trust changed tools',
  usage: '<file>',
  description: [
    'Serves the tools of the agent that a file exports, and the agent itself, to an MCP client over standard input and output. Everything the agent file prints goes to standard error. The command ends when the client disconnects.',
  ],
  options,
  parts: [trustCommand],
  notes: ['A call that needs an approval asks the user of the client, if the client supports elicitation.'],
  examples: [
    ['toolwright mcp agent.ts --db app.db', 'the command of a client that starts servers'],
    ['toolwright mcp agent.ts --http --port 3000', 'a server at http://127.0.0.1:3000/mcp'],
    ['toolwright mcp trust agent.ts', 'the tools of other servers, and whether they are trusted'],
  ],
  run: async (line, terminal) => await run(readMcpArguments(line), terminal),
})

async function run(given: McpArguments, terminal: Terminal): Promise<number> {
  loadEnvFile(terminal.folder, terminal.env)
  const output = given.port === undefined ? takeStandardOutput(terminal) : terminal.output
  const served = await withProgress(terminal, `Loading ${given.file}`, async () =>
    servedAgent(await loadAgentFile(given.file), { ...given, pinsFolder: terminal.folder }, terminalLogger(terminal)),
  )
  const server = await createServer(served, given.userId)
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>()
  const interrupts = createInterrupts(terminal.signals, { onUnhandled: interrupt })
  try {
    if (given.port === undefined) await Promise.race([server.stdio({ input: terminal.input, output }), interrupted])
    else {
      const { url } = await server.listen({ port: given.port })
      terminal.errors.write(`Serving MCP at ${url}. Press Ctrl+C to stop.\n`)
      await interrupted
    }
    return 0
  } finally {
    interrupts.close()
    await server.close()
    served.close()
  }
}

async function createServer({ agent, tools, options }: ServedAgent, userId: string | undefined): Promise<McpService> {
  const { serveMcp } = (await loadPeerByName('toolwright/mcp')) as typeof import('../../../adapters/mcp/index.ts')
  const { appName, ...services } = options
  // one process serves all requests, so 2025 clients can have sessions, and calls can ask their users
  return serveMcp({ ...services, name: appName, tools, agents: [agent], userId, httpSessions: true })
}

/** The arguments of `toolwright mcp`. */
interface McpArguments {
  readonly file: string
  /** The port of `--http`. Undefined for standard input and output. */
  readonly port: number | undefined
  readonly userId: string | undefined
  readonly app: string | undefined
  readonly db: string | undefined
}

function readMcpArguments({ values, positionals }: CommandLine<typeof options>): McpArguments {
  const [file, ...others] = positionals
  if (!file || others.length) throw new UsageError('Pass one agent file. Usage: toolwright mcp <file>')
  const { http = false, port, user, app } = values
  const db = readDatabase(values)
  if (port !== undefined && !http) throw new UsageError('--port is for HTTP. Add --http.')
  return { file, port: http ? parsePort(port ?? '0') : undefined, userId: user, app, db }
}
