// A response whose body fails when one message is too large, or when nothing arrives for too long.
import { TimerTurns } from '../../../core/base/timer-turns.ts'
import { MAX_MESSAGE_BYTES } from '../limits.ts'
import { SseSizes } from './sse-sizes.ts'

/** After this many pieces of a body that were all ready, timers get a turn. A piece may hold a thousand events. */
const CHUNKS_PER_TURN = 4

/** Options of `boundResponse`. */
interface BoundOptions {
  /** How long the server may send nothing, in milliseconds. Undefined: for ever. */
  readonly readTimeoutMs: number | undefined
  /** Aborted when the client needs no more of the body. */
  readonly abandoned: AbortSignal | undefined
  /** Called when the body has ended or failed. `isResumable`: the client can ask for the rest. */
  onEnd(isResumable: boolean): void
}

/** Bounds what the server may send in a response. */
export function boundResponse(response: Response, { readTimeoutMs, abandoned, onEnd }: BoundOptions): Response {
  if (!response.body) {
    onEnd(false)
    return response
  }
  const reader = response.body.getReader()
  const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
  const events = new SseSizes()
  const turns = new TimerTurns(CHUNKS_PER_TURN)
  let bytes = 0
  const end = (): void => onEnd(events.hasIds)
  const abandon = (): void => {
    end()
    reader.cancel().catch(() => {})
  }
  abandoned?.addEventListener('abort', abandon, { once: true })
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await readInTime(reader, readTimeoutMs)
        if (abandoned?.aborted) return await NEVER
        if (done) {
          end()
          return controller.close()
        }
        bytes = isStream ? events.add(value) : bytes + value.length
        if (bytes > MAX_MESSAGE_BYTES) throw new Error(`The MCP server sent more than ${MAX_MESSAGE_BYTES} bytes.`)
        controller.enqueue(value)
        const turn = turns.next() // a flood of notifications must not keep timers waiting
        if (turn) await turn
      } catch (error) {
        if (abandoned?.aborted) return await NEVER
        end()
        controller.error(error)
        reader.cancel(error).catch(() => {}) // not awaited: it may wait for the server
      }
    },
    cancel: (reason) => {
      end()
      return reader.cancel(reason)
    },
  })
  const { status, statusText, headers } = response
  return withUrl(new Response(body, { status, statusText, headers }), response)
}

/** An abandoned body neither ends nor fails: the MCP client would open the stream again. */
const NEVER = new Promise<never>(() => {})

type ReadResult = ReadableStreamReadResult<Uint8Array>

async function readInTime(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  readTimeoutMs: number | undefined,
): Promise<ReadResult> {
  if (readTimeoutMs === undefined) return await reader.read()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The MCP server sent nothing for ${readTimeoutMs} ms.`)), readTimeoutMs)
  })
  return await Promise.race([reader.read(), late]).finally(() => clearTimeout(timer))
}

/** A constructed response has no URL. The MCP client compares it to detect redirects. */
function withUrl(made: Response, { url, redirected, type }: Response): Response {
  return Object.defineProperties(made, {
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
  })
}
