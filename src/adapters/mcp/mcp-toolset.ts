import type { JsonObject } from '../../core/base/json.ts'
import type { AuthConfig } from '../../core/content/auth.ts'
import { messageOf } from '../../core/error/error.ts'
import type { ReadonlyContext } from '../../engine/context/context.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import type { Toolset } from '../../engine/tool/toolset.ts'
import { mcpTool } from './call/mcp-tool.ts'
import { ToolsetCalls } from './call/toolset-calls.ts'
import { McpConnection, type SessionSuspicion } from './connection/connection.ts'
import { ConnectionPool } from './connection/connection-pool.ts'
import { Identities } from './identity.ts'
import type { PinStore } from './listing/quarantine.ts'
import { Revisions } from './listing/revisions.ts'
import type { Listing, ServerTool } from './listing/server-tool.ts'
import { placeOf, type ToolDefinition, ToolsetPins } from './listing/toolset-pins.ts'
import { checkMcpOptions, type McpToolsetOptions } from './mcp-toolset-options.ts'
import { promptTool, resourceTool } from './resources-and-prompts.ts'
import { ServerListings } from './server-listings.ts'
import { toToolName } from './tool-name.ts'
import { Warnings } from './warnings.ts'

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
  /** Listing asks the server. */
  readonly isRemote = true
  readonly #options: McpToolsetOptions
  readonly #pool = new ConnectionPool()
  readonly #calls: ToolsetCalls
  readonly #identities: Identities
  readonly #pins: ToolsetPins
  readonly #listings: ServerListings
  /** By name and hash, so that an unchanged tool is the same object in every listing. */
  readonly #tools: Map<string, Tool> = new Map()
  readonly #warnings: Warnings
  readonly #revisions = new Revisions()
  readonly #suspicion: SessionSuspicion = { wasWrong: false }
  #era: McpConnection['era'] | undefined
  /** The latest answer, so that an approval stays valid while no connection is open. */
  #serverName: string | undefined

  constructor(options: McpToolsetOptions) {
    const defaultName = checkMcpOptions(options)
    this.name = options.name ?? defaultName
    this.#options = options
    this.#identities = new Identities(options)
    const connect = (context: ReadonlyContext): Promise<McpConnection> => this.#connect(context)
    const calling = { name: this.name, options, identities: this.#identities, connect }
    this.#calls = new ToolsetCalls(calling)
    this.#listings = new ServerListings(calling, this.#calls)
    this.#pins = new ToolsetPins(this.name, options)
    this.#warnings = new Warnings(this.name, options.logger ?? console)
    const { fixed } = this.#identities
    if (fixed) this.authConfig = fixed
  }

  /** Where the server is, for approvals: the transport, and the URL or the command with its arguments. */
  sendsTo(): JsonObject {
    return placeOf(this.#options.connection)
  }

  /** Lists the tools that are trusted and pass the filter. Connects to the server if needed. */
  async listTools(context: ReadonlyContext): Promise<readonly Tool[]> {
    this.#identities.use(context)
    const { connection, listing, changes } = await this.#listings.list(context)
    const { trusted, problems } = await this.#pins.judge(listing, context)
    for (const problem of [...listing.problems, ...problems]) this.#warnings.report(problem)
    this.#warnings.reportFilter(this.#options.toolFilter, listing.tools)
    const wanted = listing.tools.filter((tool) => trusted.has(tool.name) && this.#isWanted(tool, context))
    const tools = await Promise.all(wanted.map((tool) => this.#tools.get(keyOf(tool)) ?? this.#createTool(tool)))
    if (problems.length === 0) this.#revisions.set(connection, changes, context)
    return [...this.#dataTools(connection), ...tools] // a tool of the server cannot take the place of ours
  }

  /** The same object while the server reports no change of its tools. */
  revision(context: ReadonlyContext): object | undefined {
    if (typeof this.#options.toolFilter === 'function') return undefined // it may depend on the context
    const connection = this.#pool.peek(this.#identities.connectionKey(context))
    return connection && this.#revisions.get(connection, context)
  }

  /** The definitions at the server, and which of them are trusted. `store` is needed before the first run of an agent. */
  async definitions(store?: PinStore): Promise<ToolDefinition[]> {
    const found = await this.#listForOperator(store)
    return await this.#pins.definitions(found.listing, found.store)
  }

  /** Trusts a definition: models may call the tool again. `hash` is the one that `definitions()` showed. */
  async trust(name: string, hash: string, store?: PinStore): Promise<void> {
    const found = await this.#listForOperator(store)
    await this.#pins.trust({ name, hash }, found.listing, found.store)
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
    const open = this.#identities.isPlain ? this.#pool.peek(this.#identities.connectionKey(context)) : undefined
    if (open) return open
    const { connection: server, connectTimeoutMs = 5_000, sampling } = this.#options
    const headers = await this.#identities.headers(context)
    const connection = await this.#pool.get(this.#identities.connectionKey(context), async () => {
      const opened = await McpConnection.open({
        server,
        timeoutMs: connectTimeoutMs,
        era: this.#era,
        sampling,
        headers,
        suspicion: this.#suspicion,
      })
      this.#era = opened.era
      this.#serverName = opened.client.getServerVersion()?.name
      return opened
    })
    connection.http.setHeaders(headers)
    return connection
  }

  #listForOperator(given: PinStore | undefined): Promise<{ listing: Listing; store: PinStore }> {
    return this.#pins.forOperator(given, async ({ appName }) => {
      const context = { invocation: { appName, userId: 'operator' } } as ReadonlyContext
      return (await this.#listings.list(context)).listing
    })
  }

  #isWanted(tool: ServerTool, context: ReadonlyContext): boolean {
    const { toolFilter } = this.#options
    if (!tool.isForModel) return false
    if (toolFilter === undefined) return true
    if (typeof toolFilter !== 'function') return toolFilter.includes(tool.name)
    try {
      return toolFilter(tool, context) === true
    } catch (error) {
      this.#warnings.report(`Tool "${tool.name}" is left out: toolFilter threw: ${messageOf(error)}`)
      return false
    }
  }

  /** Where a tool of the server is: also by the name that the server gives itself. */
  readonly #toolPlace = (): JsonObject => ({ ...this.sendsTo(), server: this.#serverName })

  async #createTool(tool: ServerTool): Promise<Tool> {
    const made = mcpTool({
      name: await toToolName(tool.name, this.#options.prefix ?? ''),
      tool,
      server: this.name,
      options: this.#options,
      authConfig: this.authConfig,
      sendsTo: this.#toolPlace,
      call: (call) => this.#calls.call(call),
    })
    const known = this.#tools.get(keyOf(tool)) // a listing at the same time may have made it
    if (!known) this.#tools.set(keyOf(tool), made)
    return known ?? made
  }

  #dataTools(connection: McpConnection): Tool[] {
    const { resources, prompts, prefix = '' } = this.#options
    const capabilities = connection.client.getServerCapabilities()
    const source = { server: this.name, prefix, sendsTo: this.#toolPlace, read: this.#calls.read }
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

/** Equal for tools of one name with equal definitions. */
function keyOf({ name, hash }: ServerTool): string {
  return `${hash} ${name}`
}
