// For tests only: an HTTP API on 127.0.0.1 that records what it gets, and tools that call it.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../../core/base/json.ts'
import type { ToolContext } from '../../engine/context/context.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import { createToolContext, type ToolContextOptions } from '../testing/tool-context.ts'
import { OpenApiToolset, type OpenApiToolsetOptions } from './openapi-toolset.ts'

/** A request that the API got. */
interface SeenRequest {
  readonly method: string
  /** Path and query, as sent. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** An API that is running. Dispose it with `await using`. */
export interface ApiServer extends AsyncDisposable {
  /** Its URL, without a path. */
  readonly url: string
  /** The requests, in order. */
  readonly seen: SeenRequest[]
  /** How many connections are open. */
  openConnections(): Promise<number>
}

/** Answers a request. */
export type Handler = (request: SeenRequest, response: ServerResponse) => unknown

/** Starts an API. Default: it answers `{ ok: true }`. */
export async function startApi(
  handler: Handler = (_, response) => sendJson(response, { ok: true }),
): Promise<ApiServer> {
  const seen: SeenRequest[] = []
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { method = '', url = '', headers } = incoming
    const request = { method, url, headers, body: Buffer.concat(chunks) }
    seen.push(request)
    await handler(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    openConnections: () => new Promise((resolve) => server.getConnections((_, count) => resolve(count))),
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** An OpenAPI document with these paths. */
export function documentOf(paths: JsonObject, more: JsonObject = {}): JsonObject {
  return { openapi: '3.1.0', info: { title: 'Test', version: '1' }, paths, ...more }
}

/** The tools of a toolset, by name. */
export async function toolsOf(options: OpenApiToolsetOptions): Promise<Map<string, Tool>> {
  const logger = { warn: () => {}, error: () => {} }
  const tools = await new OpenApiToolset({ logger, ...options }).listTools(createToolContext())
  return new Map(tools.map((tool) => [tool.name, tool]))
}

/** Calls a tool without a runner. */
export async function callTool(tools: Map<string, Tool>, name: string, call: CallOptions = {}): Promise<unknown> {
  const found = tools.get(name)
  if (!found) throw new Error(`There is no tool "${name}".`)
  const { args = {}, context, ...options } = call
  const run = found.run.bind(found)
  return await run(args, context ?? createToolContext(options))
}

/** Arguments, and options of the context. */
interface CallOptions extends ToolContextOptions {
  readonly args?: JsonObject
  readonly context?: ToolContext
}
