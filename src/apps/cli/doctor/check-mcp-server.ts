import type { McpToolset } from '../../../adapters/mcp/mcp-toolset.ts'
import { messageOf } from '../../../core/error/error.ts'
import { CredentialRequired } from '../../../engine/context/credential-required.ts'
import { quoteForShell } from '../screen/quote-for-shell.ts'
import { type Finding, findingsOf, problemOnce } from './finding.ts'
import { type PinsOfApp, readOnly } from './pins-of-app.ts'

/** Whether a server can be asked for its tools, and what is to do about it. */
interface CheckedServer {
  /** `silent`: its tools cannot be listed. */
  readonly state: 'answers' | 'silent'
  /** What is to do. Empty if nothing is. */
  readonly found: readonly Finding[]
}

/** Connects to an MCP server and compares its tools with the pins. */
export async function checkMcpServer(
  toolset: McpToolset,
  { trustArguments, appName, pins }: PinsOfApp,
): Promise<CheckedServer> {
  const { warning } = findingsOf('mcp')
  const { name } = toolset
  try {
    // without writing, a tool that is new stays unknown
    const sessionService = { pins: readOnly(pins) }
    const definitions = await toolset.definitions({ appName, sessionService })
    const changed = definitions.filter(({ trusted }) => !trusted).map((definition) => definition.name)
    if (changed.length === 0) return { state: 'answers', found: [] }
    const trust = ['npx', 'toolwright', 'mcp', 'trust', ...trustArguments, ...changed].map(quoteForShell).join(' ')
    const found = warning(
      `Server "${name}" has changed ${changed.join(', ')}. Models do not see these tools.`,
      `Check them, then run: ${trust}`,
    )
    return { state: 'answers', found: [found] }
  } catch (error) {
    const found =
      error instanceof CredentialRequired
        ? warning(`Server "${name}" needs the sign-in of a user.`, 'The first user who needs it is asked.')
        : problemOnce('mcp', `Server "${name}": ${messageOf(error)}`, 'Start the server, or correct its `connection`.')
    return { state: 'silent', found: [found] }
  }
}
