// Servers and raw connections for the tests of the server.
import { connect } from 'node:net'
import { LlmAgent, type Tool, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { onTestFinished } from 'vitest'
import { createServer, type ToolwrightServer } from './create-server.ts'
import type { ServerOptions } from './server-options.ts'

/** A server that listens, and its address. */
export interface StartedServer {
  /** The server. */
  readonly server: ToolwrightServer
  /** The address. */
  readonly url: string
  /** The port. */
  readonly port: number
  /** What a client with the token sends. */
  readonly headers: { readonly authorization: string; readonly 'content-type': string }
}

/** Drops everything. */
export const silent: { warn(): void; error(): void } = { warn: () => {}, error: () => {} }

/** An agent that answers every message with "Hello." */
export function helloAgent(): LlmAgent {
  const say = (): string => 'Hello.'
  return new LlmAgent({ name: 'hello', model: scriptedModel(Array(100).fill(say)) })
}

/** An agent whose tool call lasts until it is released. */
interface SlowAgent {
  /** The agent. */
  readonly agent: LlmAgent
  /** Its tool. */
  readonly tool: Tool
  /** Settles when the tool runs. */
  readonly started: Promise<void>
  /** How the calls ended: `finished` or `aborted`. */
  readonly outcomes: string[]
  /** Lets the call end. */
  release(): void
}

/** A tool call that lasts until it is released, and an agent that makes it. */
export function slowAgent(): SlowAgent {
  const started = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const outcomes: string[] = []
  const wait = tool({
    name: 'wait',
    description: 'Waits',
    effect: 'none',
    run: async (_, { signal }) => {
      started.resolve()
      await Promise.race([gate.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))])
      outcomes.push(signal.aborted ? 'aborted' : 'finished')
      return { ok: true }
    },
  })
  const model = scriptedModel([{ calls: [{ name: 'wait' }] }, 'Done.'])
  const agent = new LlmAgent({ name: 'slow', model, tools: [wait] })
  return { agent, tool: wait, started: started.promise, release: gate.resolve, outcomes }
}

/** Starts a server on a free port. It closes when the test ends. */
export async function startServer(options: Partial<ServerOptions> = {}): Promise<StartedServer> {
  const server = createServer({ apps: { hello: helloAgent() }, logger: silent, ...options })
  onTestFinished(() => server.close())
  const { url, port } = await server.listen({ port: 0 })
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
  return { server, url, port, headers }
}

/** Creates a session. */
export async function createSession({ url, headers }: StartedServer, path = 'hello/users/ada'): Promise<string> {
  const response = await fetch(`${url}/apps/${path}/sessions`, { method: 'POST', headers })
  const { id } = (await response.json()) as { id: string }
  return id
}

/** The body of a run. */
export function runBody(sessionId: string, appName = 'hello', userId = 'ada'): string {
  return JSON.stringify({ appName, userId, sessionId, newMessage: { role: 'user', parts: [{ text: 'Hi' }] } })
}

/** Sends bytes as they are. Resolves with everything that came back when the server closes the connection. */
export function sendRaw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (data) => {
      received += data
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(received))
  })
}

/** The lines of a raw request that asks the server to close the connection. */
export function rawRequest(line: string, headers: readonly string[], body = ''): string {
  return [line, ...headers, 'Connection: close', '', body].join('\r\n')
}

/** The status of a raw response. */
export function statusOf(response: string): number {
  return Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1] ?? 0)
}
