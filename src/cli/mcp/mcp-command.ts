import { parseArgs } from 'node:util'
import { loadPeerByName } from '../../error/load-peer.ts'
import type { McpService } from '../../mcp/serve/serve-mcp.ts'
import { createInterrupts } from '../input/interrupts.ts'
import { loadAgentFile } from '../load/agent-file.ts'
import { loadEnvFile } from '../load/env-file.ts'
import { type ServedAgent, servedAgent } from '../load/served-agent.ts'
import { optionProblem } from '../option-problem.ts'
import { type Terminal, UsageError } from '../terminal.ts'
import { terminalLogger } from '../terminal-logger.ts'
import { takeStandardOutput } from './take-standard-output.ts'
import { trustCommand } from './trust-command.ts'

/** The help text of `toolwright mcp`. */
export const mcpUsage = `toolwright mcp <file>

Serves the tools of the agent that a file exports, and the agent itself, to an MCP client over standard input and output.
Everything the agent file prints goes to standard error. The command ends when the client disconnects.

  --http           Serve over HTTP on this machine instead, until Ctrl+C
  --port <number>  Port for --http (default: a free port)
  --user <id>      User the tools act for (default: local)
  --app <name>     App the sessions belong to (default: the file name)
  --db <file>      Store sessions, artifacts and credentials in this SQLite file
  --help           Show this help

toolwright mcp trust <file> [tool ...] trusts changed tools of MCP servers that the agent uses.

A call that needs an approval asks the user of the client, if the client supports elicitation.
`

const options = {
  http: { type: 'boolean' },
  port: { type: 'string' },
  user: { type: 'string' },
  app: { type: 'string' },
  db: { type: 'string' },
} as const

/** Runs `toolwright mcp` and returns the exit code. */
export async function mcpCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  if (args[0] === 'trust') return await trustCommand(args.slice(1), terminal)
  const given = parseMcpArguments(args)
  loadEnvFile(terminal.folder, terminal.env)
  const output = given.port === undefined ? takeStandardOutput(terminal) : terminal.output
  const served = await servedAgent(await loadAgentFile(given.file), given, terminalLogger(terminal))
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
  const { serveMcp } = (await loadPeerByName('toolwright/mcp')) as typeof import('../../mcp/index.ts')
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

function parseMcpArguments(args: readonly string[]): McpArguments {
  const { values, positionals } = parseOptions(args)
  const [file, ...others] = positionals
  if (!file || others.length) throw new UsageError('Pass one agent file. Usage: toolwright mcp <file>')
  const { http, port, user, app, db } = values
  for (const [name, value] of Object.entries({ user, app, db })) {
    if (value?.trim() === '') throw new UsageError(`--${name} is empty. Pass a value, or remove the option.`)
  }
  if (port !== undefined && !http) throw new UsageError('--port is for HTTP. Add --http.')
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535))
    throw new UsageError(`--port must be a number from 0 to 65535, got "${port}".`)
  return { file, port: http ? Number(port ?? 0) : undefined, userId: user, app, db }
}

function parseOptions(
  args: readonly string[],
): ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(optionProblem(error))
  }
}
