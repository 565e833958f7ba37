// The tools of a server as it lists them: read page by page, each tool checked by itself.
import type { Client, Tool as ListedTool } from '@modelcontextprotocol/client'
import { canonicalJson, isRecord, type JsonObject, jsonSize } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { messageOf } from '../../../core/error/error.ts'
import { digestOf } from '../../../services/auth/digest.ts'
import { MAX_DEFINITION_BYTES, MAX_NAME_LENGTH, MAX_PAGES, MAX_PROBLEMS, MAX_TOOLS } from '../limits.ts'
import type { ServerToolInfo, ToolAnnotations } from '../mcp-toolset-options.ts'
import { compileForeignSchema } from './foreign-schema.ts'

/** A tool of a server. */
export interface ServerTool extends ServerToolInfo {
  /** The JSON Schema of the arguments. */
  readonly inputSchema: JsonObject
  /** The JSON Schema of `structuredContent`; undefined if the server has none, or one that cannot be used. */
  readonly outputSchema: JsonObject | undefined
  /** The page that shows a result in a front end (MCP Apps); undefined if there is none. */
  readonly resourceUri: string | undefined
  /** May models call the tool? False for a tool that only the page of an MCP App calls. */
  readonly isForModel: boolean
  /** The digest of everything the server says about the tool. */
  readonly hash: string
  /** The definition as the server sent it. */
  readonly definition: ListedTool
}

/** The tools of a server, and why others are left out. */
export interface Listing {
  /** The tools, in the order of the server. */
  readonly tools: readonly ServerTool[]
  /** One line for each tool that is left out. */
  readonly problems: readonly string[]
}

/** Lists all tools of a server. A tool that cannot be used is left out, with the reason. */
export async function listServerTools(client: Client, options: ListOptions): Promise<Listing> {
  const { tools, problems } = await withoutInvalidHeaders(client, await readPages(client, options), options)
  const more = problems.length - MAX_PROBLEMS
  if (more <= 0) return { tools, problems }
  return { tools, problems: [...problems.slice(0, MAX_PROBLEMS), `${more} more tools are left out for such reasons.`] }
}

async function readPages(client: Client, options: ListOptions): Promise<Listing> {
  const tools: ServerTool[] = []
  const problems: string[] = []
  const cursors = new Set<string>()
  const names = new Set<string>()
  const start = performance.now()
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const timeout = Math.ceil(options.timeout - (performance.now() - start))
    if (timeout <= 0) throw new Error(`listing its tools took longer than ${options.timeout} ms`)
    const { found, nextCursor } = await readPage(client, cursor, { ...options, timeout })
    for (const definition of found) {
      if (tools.length >= MAX_TOOLS) {
        problems.push(
          `The server lists more than ${MAX_TOOLS} tools. The rest is left out. Let the server list fewer tools.`,
        )
        return { tools, problems }
      }
      const read = await readDefinition(definition)
      if (typeof read === 'string') problems.push(read)
      else if (names.has(read.name))
        problems.push(`Tool ${quote(read.name)} is listed twice. The second one is left out.`)
      else {
        names.add(read.name)
        tools.push(read)
      }
    }
    if (nextCursor === undefined || cursors.has(nextCursor)) return { tools, problems }
    cursors.add(nextCursor)
    cursor = nextCursor
  }
  problems.push(`The server lists more than ${MAX_PAGES} pages of tools. The rest is left out.`)
  return { tools, problems }
}

/** Options of a listing. */
interface ListOptions {
  /** How long all pages may take, in milliseconds. */
  readonly timeout: number
  /** Headers of the requests. */
  readonly headers?: Readonly<Record<string, string>>
}

interface Page {
  readonly found: readonly unknown[]
  readonly nextCursor: string | undefined
}

/** Reads one page without the schema of the MCP client: one malformed tool must not hide the others. */
async function readPage(client: Client, cursor: string | undefined, options: ListOptions): Promise<Page> {
  const params = cursor === undefined ? {} : { cursor }
  const result: unknown = await client.request({ method: 'tools/list', params }, ANYTHING, options)
  const { tools, nextCursor } = isRecord(result) ? result : {}
  if (!Array.isArray(tools)) throw new Error(`its list of tools is ${kindOf(tools)}`)
  return { found: tools, nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined }
}

/**
 * Leaves out tools whose parameters cannot be sent as headers. Only the 2026-07-28 protocol sends such parameters, and the
 * MCP client knows the rules: it leaves these tools out of its own listing.
 */
async function withoutInvalidHeaders(client: Client, listing: Listing, options: ListOptions): Promise<Listing> {
  const needsCheck = (tool: ServerTool): boolean => canonicalJson(tool.inputSchema).includes('"x-mcp-header"')
  if (client.getProtocolEra() !== 'modern' || !listing.tools.some(needsCheck)) return listing
  const { tools } = await client.listTools(undefined, { ...options, cacheMode: 'bypass' })
  const valid = new Set(tools.map(({ name }) => name))
  const invalid = listing.tools.filter((tool) => needsCheck(tool) && !valid.has(tool.name))
  return {
    tools: listing.tools.filter((tool) => !invalid.includes(tool)),
    problems: [
      ...listing.problems,
      ...invalid.map(({ name }) => `Tool ${quote(name)} is left out: its x-mcp-header is not valid.`),
    ],
  }
}

/** A Standard Schema that accepts every value. */
const ANYTHING = {
  '~standard': { version: 1, vendor: 'toolwright', validate: (value: unknown) => ({ value }) },
} as const

/** Reads one definition. Returns why it is left out if it cannot be used. */
async function readDefinition(given: unknown): Promise<ServerTool | string> {
  if (!isRecord(given)) return `A tool is left out: its definition is ${kindOf(given)}.`
  const { name, description = '', inputSchema, outputSchema, annotations } = given
  if (typeof name !== 'string' || name === '') return 'A tool without a name is left out.'
  const leftOut = `Tool ${quote(name)} is left out:`
  if (name.length > MAX_NAME_LENGTH) return `${leftOut} its name has ${name.length} characters.`
  if (typeof description !== 'string') return `${leftOut} its description is ${kindOf(description)}.`
  const bytes = jsonSize(given, MAX_DEFINITION_BYTES)
  if (bytes === Number.POSITIVE_INFINITY) return `${leftOut} its definition is nested too deeply.`
  if (bytes > MAX_DEFINITION_BYTES) return `${leftOut} its definition has more than ${MAX_DEFINITION_BYTES} bytes.`
  if (!isRecord(inputSchema)) return `${leftOut} its inputSchema is ${kindOf(inputSchema)}.`
  const schema: JsonObject = { ...inputSchema, type: 'object' } // servers leave the type out, or list several
  try {
    compileForeignSchema(schema, 'inputSchema', { object: true })
  } catch (error) {
    return `${leftOut} ${messageOf(error)}`
  }
  return {
    name,
    description,
    annotations: isRecord(annotations) ? (annotations as ToolAnnotations) : {},
    inputSchema: schema,
    outputSchema: usableSchema(outputSchema),
    resourceUri: resourceUriOf(given),
    isForModel: isForModel(given),
    hash: await digestOf(canonicalJson(given)),
    definition: given as unknown as ListedTool,
  }
}

function usableSchema(schema: unknown): JsonObject | undefined {
  if (!isRecord(schema)) return undefined
  try {
    compileForeignSchema(schema, 'outputSchema')
    return schema
  } catch {
    return undefined // the result is then not checked; the arguments always are
  }
}

function isForModel({ _meta }: JsonObject): boolean {
  const { visibility } = isRecord(_meta) && isRecord(_meta.ui) ? _meta.ui : {}
  return !Array.isArray(visibility) || visibility.includes('model')
}

/** The page of an MCP App. */
function resourceUriOf({ _meta }: JsonObject): string | undefined {
  if (!isRecord(_meta)) return undefined
  const uri = isRecord(_meta.ui) ? _meta.ui.resourceUri : _meta['ui/resourceUri']
  return typeof uri === 'string' && uri.startsWith('ui://') ? uri : undefined
}

function quote(name: string): string {
  return JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}...` : name)
}
