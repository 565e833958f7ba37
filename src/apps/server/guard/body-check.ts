import type { MiddlewareHandler } from 'hono'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../env.ts'
import { BodyBudget, type BodyReading } from './body-budget.ts'
import { jsonShapeProblem } from './json-shape.ts'
import { pauseAfter } from './pace.ts'
import { WorkQueue } from './work-queue.ts'

/** JSON, also with a suffix and parameters. A page of another site cannot send this type without asking first. */
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

const decoder = new TextDecoder('utf-8', { fatal: true })

/** How many bodies of the largest size one principal may send at the same time. Smaller ones may be more. */
const MAX_LARGE_BODIES = 10

/** Smaller bodies take no time worth waiting for. */
const LARGE_BYTES = 256_000

/** Reads the body within the limits and checks its type and shape. Later steps get it from `context.req.text()`. */
export function bodyCheck({ limits }: ServerParts): MiddlewareHandler<ServerEnv> {
  const budget = new BodyBudget(limits.bodyBytes * MAX_LARGE_BODIES)
  const parsing = new WorkQueue(1)
  return async (context, next) => {
    const { method } = context.req
    if (method !== 'GET' && method !== 'HEAD') {
      const { userId } = context.get('principal')
      const reading = budget.start(userId)
      let text = ''
      const bytes = hasBody(context)
        ? await readBody(context, limits.bodyBytes, reading).finally(reading.end)
        : new Uint8Array(0)
      if (bytes.byteLength <= LARGE_BYTES) text = readText(context, bytes)
      else {
        // large bodies of one principal are parsed one after another, and requests of others come between them
        const end = await parsing.take(userId)
        const start = performance.now()
        try {
          text = readText(context, bytes)
          context.set('parsedBody', tryParse(text))
        } finally {
          setTimeout(end, pauseAfter(start)).unref()
        }
      }
      // Hono keeps promises here, although the type says otherwise
      const cache = context.req.bodyCache as { text?: unknown }
      cache.text = Promise.resolve(text)
    }
    await next()
  }
}

function hasBody({ req, env }: RequestContext): boolean {
  if (!env?.incoming) return req.raw.body !== null
  return req.header('transfer-encoding') !== undefined || Number(req.header('content-length') ?? 0) > 0
}

async function readBody(
  context: RequestContext,
  limit: number,
  reading: BodyReading,
): Promise<Uint8Array | ArrayBuffer> {
  const { req } = context
  const encoding = req.header('content-encoding') ?? 'identity'
  if (encoding !== 'identity') throw invalid('The body is compressed. Send it without `Content-Encoding`.')
  const length = req.header('content-length')
  if (Number(length ?? 0) > limit) throw tooLarge(limit)
  // Node reads no more than the length says
  const isLimited = context.env?.incoming !== undefined && length !== undefined
  if (isLimited) reading.take(Number(length))
  return await (isLimited ? req.raw.arrayBuffer() : readBytes(req.raw, limit, reading)).catch((error) => {
    throw error instanceof ToolwrightError ? error : invalid('The body ended early.') // the client has left
  })
}

/** The text of the body, with its type and shape checked. */
function readText({ req }: RequestContext, bytes: Uint8Array | ArrayBuffer): string {
  if (bytes.byteLength === 0) return ''
  if (!JSON_TYPE.test(req.header('content-type') ?? ''))
    throw invalid('The body must be JSON. Send it with `Content-Type: application/json`.')
  const text = decode(bytes)
  const problem = jsonShapeProblem(text)
  if (problem !== undefined) throw new ToolwrightError('TOO_LARGE', `The body has too much JSON: ${problem}.`)
  return text
}

/** Reads the body up to the limit, whatever its headers say. */
async function readBytes({ body }: Request, limit: number, reading: BodyReading): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  // leaving the loop cancels the body
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > limit) throw tooLarge(limit)
    reading.take(chunk.byteLength)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The value of a JSON text; undefined if it is not JSON, which a later step says. */
function tryParse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function decode(bytes: Uint8Array | ArrayBuffer): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw invalid('The body is not UTF-8.')
  }
}

function tooLarge(limit: number): ToolwrightError {
  return new ToolwrightError('TOO_LARGE', `The body has more than ${limit} bytes.`)
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', message)
}
