// A local Gemini server with real HTTP, paths and error responses. Only its replies are scripted.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isRecord } from '../../../core/base/json.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type {
  GeminiReply,
  GeminiRequest,
  GeminiScript,
  GeminiServer,
  GeminiServerOptions,
  GeminiStep,
} from '../gemini-script.ts'
import { findRejection, type Rejection, sendRejection } from './gemini-rejections.ts'
import { writeReply } from './gemini-reply.ts'

/** Starts a local Gemini server with scripted replies. */
export async function startGeminiServer(script: GeminiScript, options: GeminiServerOptions): Promise<GeminiServer> {
  const { createServer } = nodeHttp()
  const requests: GeminiRequest[] = []
  let sentReplies = 0
  const nextStep = (): GeminiStep | undefined => (typeof script === 'function' ? script : script[sentReplies++])

  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming, outgoing)
    if ('status' in request) return sendRejection(outgoing, request)
    requests.push(request)
    const refusal = findRejection(request, options)
    if (refusal) return sendRejection(outgoing, refusal)
    const step = nextStep()
    if (step === undefined) return sendRejection(outgoing, scriptOver(script.length))
    await writeReply(outgoing, request, await resolveReply(step, request))
  }

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error) => {
      if (outgoing.headersSent) outgoing.destroy()
      else
        sendRejection(outgoing, {
          status: 400,
          message: `The script of geminiServer() threw an error: ${messageOf(error)}`,
        })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async (): Promise<void> => {
    if (!server.listening) return
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    await closed
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    assertComplete() {
      const left = typeof script === 'function' ? 0 : script.length - sentReplies
      if (left > 0) throw new Error(`geminiServer() has ${left} unused steps of ${script.length}.`)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Loads `node:http` without an import: bundlers for browsers and workers fail on every `node:` import. */
function nodeHttp(): typeof import('node:http') {
  const http = globalThis.process?.getBuiltinModule?.('node:http')
  if (http) return http
  throw new ToolwrightError(
    'INVALID_CONFIG',
    'geminiServer() needs node:http, which this runtime does not have. Run the test in Node 22.18 or newer.',
  )
}

// a status that clients do not retry
function scriptOver(steps: number): Rejection {
  return {
    status: 400,
    message: `geminiServer() has no step for this request: the script has ${steps} steps. Add a step.`,
  }
}

const PATH =
  /^\/+v\w+\/(?<vertex>(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/google\/)?models\/(?<model>[^/:]+):(?<method>\w+)$/

async function readRequest(incoming: IncomingMessage, outgoing: ServerResponse): Promise<GeminiRequest | Rejection> {
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://localhost')
  const { model = '', method = '', vertex } = PATH.exec(pathname)?.groups ?? {}
  if (method !== 'generateContent' && method !== 'streamGenerateContent') {
    return {
      status: 404,
      message: `geminiServer() has no endpoint ${incoming.method} ${pathname}. Send the request to models/<name>:generateContent or :streamGenerateContent.`,
    }
  }
  const isStream = method === 'streamGenerateContent'
  if (isStream && searchParams.get('alt') !== 'sse')
    return { status: 400, message: 'streamGenerateContent needs the query parameter alt=sse.' }
  let text = ''
  for await (const piece of incoming.setEncoding('utf8')) text += piece
  const body = parse(text)
  if (!isRecord(body)) return { status: 400, message: 'Invalid JSON payload received.' }
  return {
    method: incoming.method ?? '',
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
    body,
    model: decodeURIComponent(model),
    isStream,
    isVertex: vertex !== undefined,
    signal: disconnectSignal(outgoing),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function disconnectSignal(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController()
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) gone.abort(new Error('The client disconnected.'))
  })
  return gone.signal
}

async function resolveReply(step: GeminiStep, request: GeminiRequest): Promise<GeminiReply> {
  const given = typeof step === 'function' ? await step(request) : step
  if (typeof given === 'function') return resolveReply(given, request)
  return typeof given === 'string' ? { text: given } : given
}
