// One protocol server: of a connection over stdio, of a 2025 session over HTTP, or of one request over HTTP.
import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { RunContext } from '../../../engine/context/run-context.ts'
import type { Logger } from '../../../engine/dispatch/host.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import { elicitationModes } from './elicitation.ts'
import { type ListedTool, listedTool } from './listed-tool.ts'
import { progressSender } from './progress.ts'
import { InvalidState, type ServedCall, UnknownTool } from './served-call.ts'
import type { ServedCalls } from './served-calls.ts'

/** The module of the protocol. */
export type Protocol = typeof import('@modelcontextprotocol/server')

/** What every protocol server of `serveMcp()` shares. */
export interface ProtocolOptions {
  /** The name and version that clients see. */
  readonly info: { readonly name: string; readonly version: string }
  /** How to use the server, for the client's model. */
  readonly instructions: string | undefined
  /** The tools with arguments that HTTP requests repeat in headers. */
  readonly headerTools: readonly ListedTool[]
  /** Runs the calls. */
  readonly served: ServedCalls
  /** Receives errors for the operator. */
  readonly logger: Logger
  /** The `runContext` of the calls of a user. */
  runContextOf(userId: string): RunContext | undefined | Promise<RunContext | undefined>
}

/** The key of the client's capabilities in the metadata of a 2026-07-28 request. */
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/** For whom a protocol server is, and in which era of the protocol. */
export interface ProtocolPeer {
  /** The user. Nothing that a client sends can change it. */
  readonly userId: string
  /** `modern` is 2026-07-28. */
  readonly era: 'legacy' | 'modern'
}

/** Creates the server for one user. */
export function protocolServer(protocol: Protocol, options: ProtocolOptions, peer: ProtocolPeer): McpServer {
  const { userId, era } = peer
  const { info, instructions, served, logger, runContextOf } = options
  const made = new protocol.McpServer(info, {
    capabilities: { tools: { listChanged: false } },
    ...(instructions !== undefined && { instructions }),
    cacheHints: { 'tools/list': { ttlMs: 0, cacheScope: 'private' } }, // tools may differ between users and calls
  })
  declareHeaders(protocol, made, options.headerTools)
  const { server } = made
  const fail = (error: unknown): never => {
    throw protocolError(protocol, error, logger)
  }
  server.setRequestHandler('tools/list', async (_, { mcpReq }) => {
    const list = async (): Promise<ListedTool[]> =>
      await served.list({ userId, runContext: await runContextOf(userId), signal: mcpReq.signal })
    return { tools: await list().catch(fail) }
  })
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { name, arguments: args = {} } = params
    const call = async (): Promise<unknown> =>
      await served.call({ ...callOf(server, context, era), userId, runContext: await runContextOf(userId), name, args })
    return (await call().catch(fail)) as CallToolResult | InputRequiredResult // the shapes have types of their own
  })
  server.onerror = (error) => logger.warn(`MCP: ${error.message}`, error)
  return made
}

/** The error a client gets. An error of the server itself is for the operator: it may name files or tables. */
function protocolError({ ProtocolError, ProtocolErrorCode }: Protocol, error: unknown, logger: Logger): Error {
  if (error instanceof UnknownTool) return new ProtocolError(ProtocolErrorCode.InvalidParams, error.message)
  if (error instanceof InvalidState) {
    const data = { reason: 'invalid_request_state' }
    return new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', data)
  }
  logger.error(`A request of an MCP client failed: ${messageOf(error)}`, error)
  return new ProtocolError(ProtocolErrorCode.InternalError, 'Internal server error')
}

/** What a request tells about its call: the round, the answers, the client's abilities, and who follows it. */
function callOf(
  server: Server,
  { mcpReq, http, sessionId }: ServerContext,
  era: ProtocolPeer['era'],
): Omit<ServedCall, 'name' | 'args' | 'userId'> {
  const { _meta, envelope, inputResponses, signal, notify } = mcpReq
  const progressToken = _meta?.progressToken
  const capabilities =
    era === 'modern' ? (envelope as JsonObject | undefined)?.[CAPABILITIES] : server.getClientCapabilities()
  const send =
    progressToken === undefined
      ? undefined
      : progressSender((progress) =>
          notify({ method: 'notifications/progress', params: { ...progress, progressToken } }),
        )
  return {
    state: mcpReq.requestState<string>(),
    answers: isRecord(inputResponses) ? inputResponses : {},
    modes: elicitationModes(capabilities),
    isConnected: era === 'legacy',
    // a client that disconnects cancels its call, unless its session lets it come back for the result
    signal: http?.req && sessionId === undefined ? AbortSignal.any([signal, http.req.signal]) : signal,
    ...(send && { onProgress: send }),
  }
}

/** The tools whose arguments are repeated in headers (`x-mcp-header` in the schema). */
export function headerToolsOf(tools: Iterable<Tool>): ListedTool[] {
  return [...tools].flatMap((tool) => listedTool(tool) ?? []).filter(hasHeaders)
}

function hasHeaders({ inputSchema: { properties } }: ListedTool): boolean {
  return isRecord(properties) && Object.values(properties).some((one) => isRecord(one) && 'x-mcp-header' in one)
}

/** The HTTP handler of the protocol compares headers with arguments, for the tools that the server has registered. */
function declareHeaders({ fromJsonSchema }: Protocol, server: McpServer, tools: readonly ListedTool[]): void {
  for (const { name, description, inputSchema } of tools) {
    server.registerTool(name, { description, inputSchema: fromJsonSchema(inputSchema) }, () => ({ content: [] }))
  }
}
