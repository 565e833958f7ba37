// The adk-web bundle of @google/adk-devtools, unmodified, in front of a Toolwright server. A small provider on the same port
// grants every OAuth consent.
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { serve } from '@hono/node-server'
import { type AuthConfig, getUserChoice, LlmAgent, type LlmRequest, tool } from 'toolwright'
import { createServer, type ToolwrightServer } from 'toolwright/server'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { z } from 'zod'

const BUNDLE = 'node_modules/@google/adk-devtools/dist/browser'
const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html'],
  ['.js', 'text/javascript'],
  ['.css', 'text/css'],
  ['.json', 'application/json'],
  ['.svg', 'image/svg+xml'],
  ['.wasm', 'application/wasm'],
])
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** What happened on the server. */
export interface AdkWeb {
  /** The address of adk-web, with the token. */
  readonly url: string
  /** The server. */
  readonly server: ToolwrightServer
  /** The requests to the server: method, path and status. */
  readonly requests: readonly string[]
  /** What the bodies of tools did. */
  readonly ran: readonly string[]
  close(): Promise<void>
}

/** Starts a server with one app and adk-web in front of it. */
export async function startAdkWeb(): Promise<AdkWeb> {
  const requests: string[] = []
  const ran: string[] = []
  const created = Promise.withResolvers<ToolwrightServer>()
  const answer = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url)
    if (pathname === '/' && search === '') return Response.redirect(new URL('/dev-ui/', request.url))
    if (pathname.startsWith('/dev-ui/')) return await bundleFile(pathname.slice('/dev-ui/'.length) || 'index.html')
    if (pathname.startsWith('/provider/')) return provider(request)
    const response = await (await created.promise).fetch(request)
    requests.push(`${request.method} ${pathname} ${response.status}`)
    return response
  }
  const port = Promise.withResolvers<number>()
  const http = serve({ port: 0, hostname: '127.0.0.1', fetch: answer }, (info) => port.resolve(info.port))
  const origin = `http://127.0.0.1:${await port.promise}`
  const server = createServer({
    apps: { desk: createAgent(origin, ran) },
    services: { allowedRedirectUris: [`${origin}/dev-ui/`] },
    dev: true,
  })
  created.resolve(server)
  const close = async (): Promise<void> => {
    await server.close()
    if ('closeAllConnections' in http) http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  }
  return { url: `${origin}/?token=${server.token}`, server, requests, ran, close }
}

async function bundleFile(file: string): Promise<Response> {
  const content = await readFile(join(BUNDLE, file)).catch(() => undefined)
  if (!content) return new Response('', { status: 404 })
  return new Response(content, { headers: { 'content-type': TYPES.get(extname(file)) ?? 'application/octet-stream' } })
}

/** An authorization server without a login. */
function provider(request: Request): Response {
  const { pathname, searchParams } = new URL(request.url)
  if (pathname.endsWith('/token'))
    return Response.json({ access_token: 'granted', token_type: 'bearer', expires_in: 3600 })
  const redirect = new URL(searchParams.get('redirect_uri') ?? '')
  redirect.searchParams.set('code', 'code-1')
  redirect.searchParams.set('state', searchParams.get('state') ?? '')
  return Response.redirect(redirect)
}

/** An agent that calls the tool that the user names. */
function createAgent(origin: string, ran: string[]): LlmAgent {
  const refund = tool({
    name: 'refund',
    description: 'Refunds an amount',
    parameters: z.object({ amount: z.number() }),
    requiresConfirmation: true,
    run: ({ amount }) => {
      ran.push(`refund ${amount}`)
      return { refunded: amount }
    },
  })
  const order = tool({
    name: 'order',
    description: 'Orders an item',
    isLongRunning: true,
    run: () => ({ status: 'ordered' }),
  })
  const review = tool({
    name: 'review',
    description: 'Waits for a review if one is needed',
    run: (_, context) => {
      context.longRunning = true
      return { status: 'waiting' }
    },
  })
  const book = tool({
    name: 'book',
    description: 'Books a room',
    run: (_, context) => ({
      booked: context.requestInput({ key: 'stay', message: 'How long?', schema: z.object({ nights: z.number() }) }),
    }),
  })
  const report = tool({
    name: 'report',
    description: 'Writes files',
    run: async (_, context) => {
      await context.saveArtifact('reports/june.txt', { text: 'A report of June' })
      await context.saveArtifact('dot.png', { inlineData: { mimeType: 'image/png', data: PIXEL } })
      return { written: 2 }
    },
  })
  const mail = tool({
    name: 'mail',
    description: 'Sends a mail',
    authConfig: authConfig(origin),
    run: (_, { authCredential }) => {
      ran.push(`mail ${authCredential?.oauth2?.accessToken}`)
      return { sent: true }
    },
  })
  const wait = tool({
    name: 'wait',
    description: 'Waits until it is cancelled',
    run: (_, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          ran.push('wait was cancelled')
          reject(new Error('cancelled'))
        })
      }),
  })
  return new LlmAgent({
    name: 'clerk',
    description: 'Answers at the desk',
    instruction: 'Help the user.',
    model: scriptedModel(Array.from({ length: 40 }, () => reply)),
    tools: [refund, order, review, book, report, mail, wait, getUserChoice()],
  })
}

const ARGS: { readonly [tool: string]: object } = {
  refund: { amount: 3 },
  get_user_choice: { prompt: 'Which color?', options: ['red', 'blue'] },
}

/** Calls the tool that the user names, and reports its response. */
function reply({ contents }: LlmRequest): ScriptedStep {
  const last = contents.at(-1)
  const response = last?.parts.find((part) => part.functionResponse)?.functionResponse
  if (response) return `Result of ${response.name}: ${JSON.stringify(response.response)}`
  const text = last?.parts[0]?.text ?? ''
  if (text === 'hello')
    return { text: 'Good morning, how can I help?', deltas: ['Good ', 'morning, ', 'how can I help?'] }
  return { calls: [{ name: text, args: { ...ARGS[text] } }] }
}

function authConfig(origin: string): AuthConfig {
  return {
    authScheme: {
      type: 'oauth2',
      flows: {
        authorizationCode: {
          authorizationUrl: `${origin}/provider/authorize`,
          tokenUrl: `${origin}/provider/token`,
          scopes: { mail: 'Send mails' },
        },
      },
    },
    rawAuthCredential: {
      authType: 'oauth2',
      oauth2: { clientId: 'desk', clientSecret: 'a-client-secret', redirectUri: `${origin}/dev-ui/` },
    },
  }
}
