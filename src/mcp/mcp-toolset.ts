import type { AuthConfig } from '../content/auth.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import { InMemorySessionService } from '../session/in-memory.ts'
import type { ReadonlyContext } from '../tool/context.ts'
import { hostOf } from '../tool/host-of.ts'
import type { Tool } from '../tool/tool.ts'
import type { Toolset } from '../tool/toolset.ts'
import { mcpTool } from './call/mcp-tool.ts'
import { ServerCalls } from './call/server-calls.ts'
import type { McpConnection } from './connection/connection.ts'
import { ServerLink } from './connection/server-link.ts'
import type { Listing, ServerTool } from './listing/server-tool.ts'
import { ToolLists } from './listing/tool-lists.ts'
import type { PinStore } from './listing/trust.ts'
import { checkMcpOptions, type McpToolsetOptions } from './mcp-toolset-options.ts'
import { type DataSource, promptTool, resourceTool } from './server-data.ts'
import { toToolName } from './tool-name.ts'
import { Warnings } from './warnings.ts'

/** A definition of a tool, as an operator sees it. */
export interface ToolDefinition {
  /** The name at the server. */
  readonly name: string
  /** The digest of the definition. */
  readonly hash: string
  /** May models call the tool? */
  readonly trusted: boolean
}

/**
 * The tools of an MCP server. The server is connected on first use: one connection for all users, or one for each user if it
 * wants credentials. The runner closes the connections.
 *
 * @example
 * const files = new McpToolset({
 *   connection: { type: 'stdio', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', './work'] },
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
  readonly #link: ServerLink
  readonly #lists: ToolLists
  readonly #calls: ServerCalls
  readonly #warnings: Warnings
  /** By name and hash, so that an unchanged tool is the same object in every listing. */
  readonly #tools: Map<string, Tool> = new Map()
  /** The pins of contexts without a session service. */
  readonly #ownPins = new InMemorySessionService()
  #latest: { readonly listing: Listing; readonly store: PinStore } | undefined

  constructor(options: McpToolsetOptions) {
    const defaultName = checkMcpOptions(options)
    this.name = options.name ?? defaultName
    this.#options = options
    this.#link = new ServerLink(options)
    this.#lists = new ToolLists(options, defaultName)
    this.#calls = new ServerCalls(this.name, options, this.#link)
    this.#warnings = new Warnings(this.name, options.logger ?? console)
    const { fixed } = this.#link.identities
    if (fixed) this.authConfig = fixed
  }

  /** Lists the tools that are trusted and pass the filter. Connects to the server if needed. */
  async listTools(context: ReadonlyContext): Promise<readonly Tool[]> {
    this.#link.identities.use(context)
    const { connection, listing } = await this.#list(context)
    const store = this.#pinStoreOf(context)
    this.#latest = { listing, store }
    const { trusted, problems } = await this.#lists.judge(listing, store)
    for (const problem of [...listing.problems, ...problems]) this.#warnings.report(problem)
    const wanted = listing.tools.filter((tool) => trusted.has(tool.name) && this.#isWanted(tool, context))
    const tools = await Promise.all(wanted.map((tool) => this.#tools.get(keyOf(tool)) ?? this.#createTool(tool)))
    return [...this.#dataTools(connection), ...tools] // a tool of the server cannot take the place of ours
  }

  /** The definitions at the server, and which of them are trusted. `store` is needed before the first run of an agent. */
  async definitions(store?: PinStore): Promise<ToolDefinition[]> {
    const { listing, pins } = await this.#listForOperator(store)
    const { trusted } = await this.#lists.judge(listing, pins)
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
    await this.#lists.trust(pins, name, hash)
  }

  /** Closes all connections and ends local servers. A later use connects again. */
  async shutdown(): Promise<void> {
    this.#calls.close()
    await this.#link.close()
  }
  /** Closes all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown()
  }

  #list(context: ReadonlyContext): Promise<{ connection: McpConnection; listing: Listing }> {
    return this.#link.read(context, async (connection) => ({ connection, listing: await this.#lists.of(connection) }))
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

  async #createTool(tool: ServerTool): Promise<Tool> {
    const made = mcpTool({
      name: await toToolName(tool.name, this.#options.prefix ?? ''),
      tool,
      server: this.name,
      options: this.#options,
      authConfig: this.authConfig,
      call: (call) => this.#calls.call(call),
    })
    const known = this.#tools.get(keyOf(tool)) // a listing at the same time may have made it
    if (!known) this.#tools.set(keyOf(tool), made)
    return known ?? made
  }

  #dataTools(connection: McpConnection): Tool[] {
    const { resources, prompts, prefix = '' } = this.#options
    const capabilities = connection.client.getServerCapabilities()
    const source: DataSource = { server: this.name, prefix, read: (context, ask) => this.#calls.read(context, ask) }
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
