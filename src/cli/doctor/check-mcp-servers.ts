import type { Agent } from '../../agent/agents/agent.ts'
import { messageOf } from '../../error/error.ts'
import type { McpToolset } from '../../mcp/mcp-toolset.ts'
import { CredentialRequired } from '../../tool/credential-required.ts'
import type { Pins } from '../../tool/invocation-host.ts'
import { mcpToolsetsOf } from '../mcp/mcp-toolsets-of.ts'
import { quoteForShell } from '../screen/quote-for-shell.ts'
import { type Finding, findingsOf } from './finding.ts'

/** Where the pins of an app are stored, and how to trust a changed tool. */
interface PinsOfApp {
  readonly appName: string
  /** Knows the trusted definitions. Nothing is written to it. */
  readonly pins: Pick<Pins, 'getPin'>
  /** The arguments of `toolwright mcp trust` for the app: the agent file, and where its pins are. */
  readonly trustArguments: readonly string[]
}

/** Connects to each MCP server that an agent uses, lists its tools and compares them with the pins. */
export async function checkMcpServers(root: Agent, pins: PinsOfApp): Promise<Finding[]> {
  const toolsets = mcpToolsetsOf(root)
  try {
    return await Promise.all(toolsets.map((toolset) => checkServer(toolset, pins)))
  } finally {
    await Promise.all(toolsets.map((toolset) => toolset.shutdown()))
  }
}

async function checkServer(toolset: McpToolset, { trustArguments, appName, pins }: PinsOfApp): Promise<Finding> {
  const { ok, warning, problem } = findingsOf('mcp')
  const { name } = toolset
  try {
    // without writing, a tool that is new stays unknown
    const sessionService = { getPin: pins.getPin.bind(pins), setPin: async () => true }
    const definitions = await toolset.definitions({ appName, sessionService })
    const changed = definitions.filter(({ trusted }) => !trusted).map((definition) => definition.name)
    if (changed.length === 0) return ok(`Server "${name}" answers and has ${definitions.length} tools`)
    return warning(
      `Server "${name}" has changed ${changed.join(', ')}. Models do not see these tools.`,
      `Check them, then run: npx toolwright mcp trust ${[...trustArguments, ...changed].map(quoteForShell).join(' ')}`,
    )
  } catch (error) {
    if (error instanceof CredentialRequired)
      return warning(`Server "${name}" needs the sign-in of a user.`, 'The first user who needs it is asked.')
    return problem(`Server "${name}": ${messageOf(error)}`, 'Start the server, or correct its `connection`.')
  }
}
