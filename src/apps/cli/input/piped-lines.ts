import { fstatSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate } from 'node:timers/promises'
import { escapeLine } from '../../../core/base/escape.ts'
import type { Interrupts } from './interrupts.ts'
import type { LineResult, LineSource } from './line-source.ts'

/** A pipe, or a file, as standard input. */
interface Pipe {
  /** Standard input. */
  readonly input: Readable
  /** Where prompts are printed. */
  readonly output: Writable
}

/**
 * Reads lines from a file or another program, up to the message `exit`. Prints each answer after its label. Marks lines that were
 * written before a request was shown.
 */
export function pipedLines({ input, output }: Pipe, interrupts: Interrupts): LineSource {
  const lines = new ArrivedLines(input)
  let isEnded = false
  return {
    showing: () => lines.markEarly(),
    async read(label, _initial, signal) {
      if (isEnded) return { type: 'end' }
      const isAnswer = label !== undefined
      if (isAnswer) output.write(label)
      const result = await raceInterrupt(lines.next(isAnswer), interrupts, signal)
      if (isAnswer) {
        output.write(`${result.type === 'line' ? escapeLine(result.text) : ''}\n`)
        isEnded = result.type === 'end' // the request stays open, and no message is sent while it does
      } else if (result.type === 'line' && result.text.trim() === 'exit') return { type: 'end' }
      return result
    },
    close: () => lines.close(),
  }
}

/** Lines beyond this number wait in the pipe until some are read. */
const MOST_WAITING = 1_024
/** With more lines before a request, no line answers it. */
const MOST_EARLY = 16_384
/** What is in the buffer of the stream, and of the system, arrives within one turn of the event loop each. */
const QUIET_TURNS = 2

interface ArrivedLine {
  readonly text: string
  /** Was it written, or begun, before the request that is shown? */
  isEarly: boolean
}

interface Arrival {
  readonly line: ArrivedLine
  /** Removes the line. */
  take(): void
}

/** The lines of a stream as they arrive, with a mark on those that were written before a request. */
class ArrivedLines {
  readonly #input: Readable
  readonly #decoder = new StringDecoder('utf8')
  readonly #lines: ArrivedLine[] = []
  #partial = ''
  #isPartialEarly = false
  /** A file was written before any request. */
  readonly #isFile: boolean
  #isEnded = false
  /** More was written before a request than is read: the program that writes it does not wait for requests. */
  #isFlood = false
  #isMarking = false
  #arrived = 0
  #wake: (() => void) | undefined

  constructor(input: Readable) {
    this.#input = input
    input.on('data', this.#onData)
    input.on('end', this.#onEnd)
    input.on('close', this.#onEnd)
    this.#isFile = isFile(input)
  }

  /** Marks everything that was written until now. */
  async markEarly(): Promise<void> {
    this.#isMarking = true
    this.#input.resume() // what did not fit was written earlier, too
    for (let quiet = 0; quiet < QUIET_TURNS && !this.#isFlood; quiet++) {
      const before = this.#arrived
      await setImmediate()
      if (this.#arrived !== before) quiet = -1
      this.#isFlood = this.#lines.length > MOST_EARLY
    }
    for (const line of this.#lines) line.isEarly = true
    this.#isPartialEarly = this.#partial !== ''
    this.#isMarking = false
    this.#limit()
  }

  /** The next line; undefined at the end. The line stays until it is taken. */
  async next(isAnswer: boolean): Promise<Arrival | undefined> {
    for (;;) {
      if (isAnswer && this.#isFlood) return undefined
      const [line] = this.#lines
      if (line) return { line, take: () => this.#take(line) }
      if (this.#isEnded) return undefined
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }

  /** Stops reading. */
  close(): void {
    this.#input.off('data', this.#onData)
    this.#input.off('end', this.#onEnd)
    this.#input.off('close', this.#onEnd)
    this.#input.pause()
    this.#onEnd()
  }

  #take(line: ArrivedLine): void {
    this.#lines.splice(this.#lines.indexOf(line), 1)
    this.#limit()
  }

  #limit(): void {
    if (this.#lines.length > MOST_WAITING) this.#input.pause()
    else if (!this.#isEnded) this.#input.resume()
  }

  readonly #onData = (chunk: Buffer | string): void => {
    this.#arrived++
    const text = this.#partial + (typeof chunk === 'string' ? chunk : this.#decoder.write(chunk))
    const lines = text.split(/\r\n|\n|\r(?!$)/)
    this.#partial = lines.pop() ?? ''
    for (const line of lines) this.#add(line)
    if (!this.#isMarking || this.#lines.length > MOST_EARLY) this.#limit()
    this.#wake?.()
  }

  #add(text: string): void {
    this.#lines.push({ text, isEarly: this.#isFile || this.#isPartialEarly })
    this.#isPartialEarly = false
  }

  readonly #onEnd = (): void => {
    if (this.#isEnded) return
    const rest = (this.#partial + this.#decoder.end()).replace(/\r$/, '')
    if (rest !== '') this.#add(rest)
    this.#partial = ''
    this.#isEnded = true
    this.#wake?.()
  }
}

/** Was standard input redirected from a file? */
function isFile(input: Readable): boolean {
  const { fd } = input as { fd?: unknown }
  if (typeof fd !== 'number') return false
  try {
    return fstatSync(fd).isFile()
  } catch {
    return false // closed
  }
}

/** An interrupt or an abort does not consume the line. */
async function raceInterrupt(
  next: Promise<Arrival | undefined>,
  interrupts: Interrupts,
  signal: AbortSignal | undefined,
): Promise<LineResult> {
  const { promise, resolve } = Promise.withResolvers<{ readonly type: 'interrupt' | 'aborted' }>()
  const stopListening = interrupts.listen(() => resolve({ type: 'interrupt' }))
  const abort = (): void => resolve({ type: 'aborted' })
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  const first = await Promise.race([promise, next]).finally(() => {
    stopListening()
    signal?.removeEventListener('abort', abort)
  })
  if (!first) return { type: 'end' }
  if ('type' in first) return first
  first.take()
  const { text, isEarly } = first.line
  return isEarly ? { type: 'line', text, isEarly } : { type: 'line', text }
}
