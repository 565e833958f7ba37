import { digestOf } from '../auth/digest.ts'
import type { AuthConfig } from '../content/auth.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import { InMemorySessionService } from '../session/in-memory.ts'
import type { ReadonlyContext } from '../tool/context.ts'
import { CredentialRequired } from '../tool/credential-required.ts'
import { hostOf } from '../tool/host-of.ts'
import type { Pins } from '../tool/invocation-host.ts'
import type { Tool } from '../tool/tool.ts'
import type { Toolset } from '../tool/toolset.ts'
import { maskSecrets } from './call/mask-secrets.ts'
import { mcpTool } from './call/mcp-tool.ts'
import { ToolsetCalls } from './call/toolset-calls.ts'
import { McpConnection, RefusedError } from './connection/connection.ts'
import { ConnectionPool } from './connection/connection-pool.ts'
import type { Era } from './connection/open-client.ts'
import { Identities } from './identity.ts'
import { LIST_MS, RELIST_MS } from './limits.ts'
import { type Listing, listServerTools, type ServerTool } from './listing/server-tool.ts'
import { judge, type PinStore, pin, type Verdict } from './listing/trust.ts'
import { checkMcpOptions, type McpToolsetOptions } from './mcp-toolset-options.ts'
import { promptTool, resourceTool } from './server-data.ts'
import { toToolName } from './tool-name.ts'
import { toLine, Warnings } from './warnings.ts'

/** A definition of a tool, as an operator sees it. */
export interface ToolDefinition {
  /** The name at the server. */
  readonly name: string
  /** The digest of the definition. */
  readonly hash: string
  /** May models call the tool? */
  readonly trusted: boolean
}

interface CachedListing {
  readonly listing: Promise<Listing>
  readonly changes: number
  readonly relistedAt: number
}

/**
 * The tools of an MCP server. The server is connected on first use: one connection for all users, or one for each user if it
 * wants credentials. The runner closes the connections.
 *
 * @example
 * const files = new McpToolset({
 *   connection: { type: 'stdio', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/tmp/work'] },
 *   toolFilter: ['read_file', 'list_directory'],
 * })
 * const agent = new LlmAgent({ name: 'desk', model, tools: [files] })
 */
export class McpToolset implements Toolset {
  /** The name in pins, warnings and questions. */
  readonly name: string
  /** The credential of the server, if the `auth` option says how the server authenticates its callers. */
  readonly authConfig?: AuthConfig
  readonly #options: McpToolsetOptions
  readonly #pool = new ConnectionPool()
  readonly #calls: ToolsetCalls
  readonly #identities: Identities
  readonly #pinName: Promise<string>
  readonly #listings: WeakMap<McpConnection, CachedListing> = new WeakMap()
  readonly #verdicts: WeakMap<
    Pins,
    { readonly listing: Listing; readonly appName: string; readonly verdict: Verdict }
  > = new WeakMap()
  /** By name and hash, so that an unchanged tool is the same object in every listing. */
  readonly #tools: Map<string, Tool> = new Map()
  readonly #warnings: Warnings
  readonly #ownPins = new InMemorySessionService()
  #era: Era | undefined
  #latest: { readonly listing: Listing; readonly store: PinStore } | undefined

  constructor(options: McpToolsetOptions) {
    const defaultName = checkMcpOptions(options)
    this.name = options.name ?? defaultName
    this.#options = options
    this.#identities = new Identities(options)
    this.#calls = new ToolsetCalls({
      name: this.name,
      options,
      identities: this.#identities,
      connect: (context) => this.#connect(context),
    })
    this.#pinName = pinNameOf(this.name, options)
    this.#warnings = new Warnings(this.name, options.logger ?? console)
    const { fixed } = this.#identities
    if (fixed) this.authConfig = fixed
  }

  /** Lists the tools that are trusted and pass the filter. Connects to the server if needed. */
  async listTools(context: ReadonlyContext): Promise<readonly Tool[]> {
    this.#identities.use(context)
    const { connection, listing } = await this.#list(context)
    const store = this.#pinStoreOf(context)
    this.#latest = { listing, store }
    const { trusted, problems } = await this.#judge(listing, store)
    for (const problem of [...listing.problems, ...problems]) this.#warnings.report(problem)
    const tools: Tool[] = []
    for (const tool of listing.tools) {
      if (trusted.has(tool.name) && this.#isWanted(tool, context)) tools.push(await this.#toolOf(tool))
    }
    return [...this.#dataTools(connection), ...tools] // a tool of the server cannot take the place of ours
  }

  /** The definitions at the server, and which of them are trusted. `store` is needed before the first run of an agent. */
  async definitions(store?: PinStore): Promise<ToolDefinition[]> {
    const { listing, pins } = await this.#listForOperator(store)
    const { trusted } = await judge(pins, await this.#pinName, listing.tools)
    return listing.tools.map(({ name, hash }) => ({ name, hash, trusted: trusted.has(name) }))
  }

  /** Trusts a definition: models may call the tool again. `hash` is the one that `definitions()` showed. */
  async trust(name: string, hash: string, store?: PinStore): Promise<void> {
    const { listing, pins } = await this.#listForOperator(store)
    const found = listing.tools.find((tool) => tool.name === name)
    if (found?.hash !== hash)
      throw new ToolwrightError(
        'INVALID_REQUEST',
        `Tool "${name}" of toolset "${this.name}" has another definition now, or is gone. Call definitions() again.`,
      )
    await pin(pins, await this.#pinName, name, hash)
  }

  /** Closes all connections and ends local servers. A later use connects again. */
  async shutdown(): Promise<void> {
    this.#calls.close()
    await this.#pool.close()
  }
  /** Closes all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown()
  }

  async #connect(context: ReadonlyContext): Promise<McpConnection> {
    const { connection: server, connectTimeoutMs = 5_000, sampling } = this.#options
    const headers = await this.#identities.headers(context)
    const connection = await this.#pool.get(this.#identities.connectionKey(context), async () => {
      const opened = await McpConnection.open({
        server,
        timeoutMs: connectTimeoutMs,
        era: this.#era,
        sampling,
        headers,
      })
      this.#era = opened.era
      return opened
    })
    connection.http.setHeaders(headers)
    return connection
  }

  /** The tools of the server. Throws `CredentialRequired` if the server wants a credential. */
  async #list(context: ReadonlyContext): Promise<{ connection: McpConnection; listing: Listing }> {
    let connection: McpConnection | undefined
    try {
      connection = await this.#connect(context)
      return { connection, listing: await this.#listingOf(connection) }
    } catch (error) {
      if (connection) this.#listings.delete(connection)
      const refusal = error instanceof RefusedError ? error : connection?.http.takeRefusal()
      if (refusal) throw new CredentialRequired(await this.#identities.refused(context, refusal.challenge))
      const secrets = await this.#calls.secretsOf(context).catch(() => [])
      throw new Error(`the MCP server cannot be used: ${toLine(maskSecrets(messageOf(error), secrets))}`, {
        cause: error,
      })
    }
  }

  #listingOf(connection: McpConnection): Promise<Listing> {
    const cached = this.#listings.get(connection)
    const now = performance.now()
    const isFresh = cached && (cached.changes === connection.changes || now - cached.relistedAt < RELIST_MS)
    if (isFresh) return cached.listing
    const { connectTimeoutMs = 5_000 } = this.#options
    const listing = listServerTools(connection.client, { timeout: Math.max(connectTimeoutMs, LIST_MS) })
    const relistedAt = cached ? now : Number.NEGATIVE_INFINITY
    this.#listings.set(connection, { listing, changes: connection.changes, relistedAt })
    listing.catch(() => this.#listings.delete(connection))
    return listing
  }

  /** Compares a listing with the pins: once, and again while tools are quarantined, because another process may trust them. */
  async #judge(listing: Listing, store: PinStore): Promise<Verdict> {
    const { appName, sessionService } = store
    const known = this.#verdicts.get(sessionService)
    const isSame = known?.listing === listing && known.appName === appName
    if (isSame && known.verdict.problems.length === 0) return known.verdict
    const verdict = await judge(store, await this.#pinName, listing.tools)
    this.#verdicts.set(sessionService, { listing, appName, verdict })
    return verdict
  }

  #pinStoreOf(context: ReadonlyContext): PinStore {
    const host = hostOf(context)
    return { appName: context.invocation.appName, sessionService: host?.pins ?? this.#ownPins }
  }

  async #listForOperator(store: PinStore | undefined): Promise<{ listing: Listing; pins: PinStore }> {
    const pins = store ?? this.#latest?.store
    if (!pins)
      throw new ToolwrightError(
        'INVALID_REQUEST',
        `Toolset "${this.name}" has not been used by a runner yet. Pass { appName, sessionService } of the runner.`,
      )
    if (this.#latest) return { listing: this.#latest.listing, pins }
    const context = { invocation: { appName: pins.appName, userId: 'operator' } } as ReadonlyContext
    return { ...(await this.#list(context)), pins }
  }

  #isWanted(tool: ServerTool, context: ReadonlyContext): boolean {
    const { toolFilter } = this.#options
    if (toolFilter === undefined) return true
    if (typeof toolFilter !== 'function') return toolFilter.includes(tool.name)
    try {
      return toolFilter(tool, context) === true
    } catch (error) {
      this.#warnings.report(`Tool "${tool.name}" is left out: toolFilter threw: ${messageOf(error)}`)
      return false
    }
  }

  async #toolOf(tool: ServerTool): Promise<Tool> {
    const key = `${tool.hash} ${tool.name}`
    const known = this.#tools.get(key)
    if (known) return known
    const name = await toToolName(tool.name, this.#options.prefix ?? '')
    const made = mcpTool({
      name,
      tool,
      server: this.name,
      options: this.#options,
      authConfig: this.authConfig,
      call: (call) => this.#calls.call(call),
    })
    this.#tools.set(key, made)
    return made
  }

  #dataTools(connection: McpConnection): Tool[] {
    const { resources, prompts, prefix = '' } = this.#options
    const capabilities = connection.client.getServerCapabilities()
    const source = { server: this.name, prefix, read: this.#calls.read }
    const made: Tool[] = []
    const add = (kind: string, make: () => Tool): void => {
      const tool = this.#tools.get(kind) ?? make()
      this.#tools.set(kind, tool)
      made.push(tool)
    }
    if (resources && capabilities?.resources) add('resources', () => resourceTool(source))
    if (prompts && capabilities?.prompts) add('prompts', () => promptTool(source))
    return made
  }
}

/** The name of the pins. Two servers can have one default name, so the name then contains how the server is reached. */
async function pinNameOf(toolset: string, { name, connection }: McpToolsetOptions): Promise<string> {
  if (name !== undefined) return `mcp:${name}`
  const place =
    connection.type === 'stdio' ? [connection.command, ...(connection.args ?? [])] : [String(connection.url)]
  return `mcp:${toolset}:${(await digestOf(...place)).slice(0, 16)}`
}
