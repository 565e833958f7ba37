// Calls the routes of a server without a network.
import { LlmAgent, type LlmAgentOptions } from 'toolwright'
import { createServer, type ServerOptions, type ToolwrightServer } from 'toolwright/server'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { onTestFinished } from 'vitest'

/** An answer of the server. */
export interface Answer {
  /** The HTTP status. */
  readonly status: number
  /** The body. */
  readonly text: string
  /** The headers. */
  readonly headers: Headers
  /** The body as JSON. Tests know its shape. */
  // biome-ignore lint/suspicious/noExplicitAny: each test checks the shape it expects
  json(): any
  /** The frames of an event stream. */
  // biome-ignore lint/suspicious/noExplicitAny: each test checks the shape it expects
  frames(): any[]
}

/** A server and a client with a token. */
export interface TestClient {
  /** The server. */
  readonly server: ToolwrightServer
  /** Sends a request. `as`: the bearer token; default the token of the server, null for none. */
  send(
    line: string,
    body?: unknown,
    options?: { as?: string | null; headers?: Record<string, string> },
  ): Promise<Answer>
}

/** What a test server is made of. */
export interface TestServerOptions extends Partial<ServerOptions> {
  /** The tools of the agent. */
  readonly tools?: LlmAgentOptions['tools']
  /** What its model replies. */
  readonly steps?: readonly ScriptedStep[]
}

/** Creates a server with the app `desk`, whose agent is `clerk`. */
export function createTestServer({ tools = [], steps = [], ...options }: TestServerOptions = {}): TestClient {
  const agent = new LlmAgent({ name: 'clerk', description: 'Answers', model: scriptedModel(steps), tools })
  const logger = { warn: () => {}, error: () => {} }
  const server = createServer({ apps: { desk: agent }, logger, ...options })
  onTestFinished(() => server.close())
  return {
    server,
    send: async (line, body, { as = server.token ?? null, headers = {} } = {}) => {
      const [method = '', path = ''] = line.split(' ')
      const request = new Request(`http://127.0.0.1${path}`, {
        method,
        headers: {
          ...(as !== null && { authorization: `Bearer ${as}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const response = await server.fetch(request)
      const text = await response.text()
      return {
        status: response.status,
        text,
        headers: response.headers,
        json: () => JSON.parse(text),
        frames: () => framesIn(text),
      }
    },
  }
}

/** Throws if a stream has anything but `data: <json>` and empty lines. */
function framesIn(text: string): unknown[] {
  const frames = text.split('\n\n')
  if (frames.pop() !== '') throw new Error('The last frame is incomplete.')
  return frames.map((frame) => {
    if (!frame.startsWith('data: ') || frame.includes('\n')) throw new Error(`Not a frame: ${frame}`)
    return JSON.parse(frame.slice('data: '.length))
  })
}

/** The path of ada's sessions. */
export const SESSIONS = '/apps/desk/users/ada/sessions'

/** The body of a run of ada's session `s1`. */
export function runBody(message: string | object[], more: object = {}): object {
  const parts = typeof message === 'string' ? [{ text: message }] : message
  return { appName: 'desk', userId: 'ada', sessionId: 's1', newMessage: { role: 'user', parts }, ...more }
}

/** The part that approves a pending request. */
export function approval(id: string): object {
  return { functionResponse: { id, name: 'adk_request_confirmation', response: { confirmed: true } } }
}
