import { systemPorts } from '../../../core/base/ports.ts'
import { withTimeout } from '../../../core/base/with-timeout.ts'
import type { RequestContext, ServerParts } from '../env.ts'
import { describeError } from '../errors/error-body.ts'
import { encodeFrame } from './encode-frame.ts'
import { FrameStream } from './frame-stream.ts'

/** What an event stream sends. */
export interface StreamSource {
  /**
   * The frames, in order. An error before the first one is the error of the request; a later one is sent as a frame. A run
   * needs `runConfig.detach`: it must continue when its reader is detached.
   */
  readonly frames: AsyncIterable<object>
  /**
   * Called once when the client closes the request before the source has ended. The remaining frames are dropped, so that the
   * source can end.
   */
  onDisconnect(): void
  /** Called when the client reads too slowly and is detached. Default: the remaining frames are dropped. */
  onStall?(): void
}

/** The response starts after this time, in milliseconds, also if there is no frame yet. */
const START_MS = 1_000

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

/**
 * Sends frames as server-sent events, each one as `data: <json>` in one chunk. The id of an event is in its JSON. A client that
 * reads too slowly is detached: its connection breaks off, the run continues, and the client can follow it again.
 *
 * @example
 * const run = runner.run({ userId, sessionId, message, runConfig: { detach: true } })
 * return await eventStream(context, parts, { frames: framesOf(run), onDisconnect: () => void run.cancel() })
 */
export async function eventStream(
  context: RequestContext,
  parts: ServerParts,
  source: StreamSource,
): Promise<Response> {
  if (context.req.method === 'HEAD') return new Response(null, { headers: HEADERS }) // no reader would end the stream
  const sender = new Sender(context, parts, source)
  await sender.start()
  return new Response(sender.readable, { headers: HEADERS })
}

/** Sends the frames of one source to one client. */
class Sender {
  readonly #context: RequestContext
  readonly #parts: ServerParts
  readonly #source: StreamSource
  readonly #stream: FrameStream
  /** Whether the client has left, was detached, or gets no more frames. A client that leaves then stops nothing. */
  #isOver = false

  constructor(context: RequestContext, parts: ServerParts, source: StreamSource) {
    this.#context = context
    this.#parts = parts
    this.#source = source
    this.#stream = new FrameStream(parts.limits, this.#onDisconnect)
  }

  /** What the client reads. */
  get readable(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#stream.readable
  }

  /** Starts the source, and waits a while for its first frame. Throws the error that comes instead of it. */
  async start(): Promise<void> {
    const { signal } = this.#context.req.raw
    this.#context.env?.outgoing?.setTimeout(0) // a run may be silent for long
    signal.addEventListener('abort', this.#onDisconnect, { once: true })
    if (signal.aborted) this.#onDisconnect()
    const iterator = this.#source.frames[Symbol.asyncIterator]()
    const first = iterator.next()
    try {
      await withTimeout(first, START_MS, systemPorts, () => undefined)
    } catch (error) {
      signal.removeEventListener('abort', this.#onDisconnect)
      throw error
    }
    const slot = this.#context.get('runSlot')
    if (slot) slot.isStreaming = true
    void this.#send(first, iterator)
  }

  /** Never rejects. Without a client the frames are dropped until the source ends. */
  async #send(first: Promise<IteratorResult<object>>, iterator: AsyncIterator<object>): Promise<void> {
    try {
      for (let step = await first; !step.done; step = await iterator.next()) await this.#write(step.value)
    } catch (error) {
      const { body } = describeError(error, this.#context.get('correlationId'), this.#parts.logger)
      await this.#write(body)
    }
    this.#isOver = true
    this.#context.req.raw.signal.removeEventListener('abort', this.#onDisconnect)
    this.#context.get('runSlot')?.release() // before the client sees the end, so that it can start the next run
    this.#stream.end()
  }

  async #write(frame: object): Promise<void> {
    if (this.#stream.isOpen && !(await this.#stream.write(encodeFrame(frame)))) this.#detach()
  }

  /** The client is too slow. It does not leave by its own will, so this is no disconnect. */
  #detach(): void {
    this.#isOver = true
    this.#parts.metrics.countStreamDetach()
    this.#stream.abort(this.#context.env?.outgoing)
    this.#source.onStall?.()
  }

  readonly #onDisconnect = (): void => {
    if (this.#isOver) return
    this.#isOver = true
    this.#source.onDisconnect()
  }
}
