import type { Writable } from 'node:stream'
import { createPaint, type Paint } from './paint.ts'
import { truncate } from './text-width.ts'

/** Options of `Screen`. */
interface ScreenOptions {
  /** Standard output. */
  readonly output: Output
  /** Standard error. Tools and the log write to it; the status line is erased first. */
  readonly errors?: Output | undefined
  /** Environment variables; `TERM` and `NO_COLOR` are read. */
  readonly env: { readonly [name: string]: string | undefined }
}

/** A stream that may be a terminal. */
export type Output = Writable & {
  /** Is it a terminal? Default false. */
  readonly isTTY?: boolean | undefined
  /** Width in characters. Only a terminal has it. */
  readonly columns?: number | undefined
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100
/** Where lines cannot be redrawn, the status is written once, after this time. */
const LONG_WAIT_MS = 10_000
const ERASE = '\r\x1b[K'

/** Writes text, and below the text one status line that is redrawn. */
export class Screen {
  /** The stream that text is written to. */
  readonly output: Output
  /** The output is a terminal. */
  readonly isTerminal: boolean
  /** The terminal can redraw a line. */
  readonly isLive: boolean
  /** The terminal shows colours. */
  readonly colour: boolean
  /** Applies styles where the terminal shows colours. */
  readonly paint: Paint
  /** Writes to the output past the guard of `#guardStreams`. */
  readonly #write: (text: string) => void
  readonly #terminalStreams: readonly Output[]
  #label: string | undefined
  #since = 0
  #frame = 0
  #timer: NodeJS.Timeout | undefined
  #isDrawn = false
  /** A tool wrote text that did not end its line. */
  #isMidLine = false
  #restore: (() => void) | undefined

  constructor({ output, errors, env }: ScreenOptions) {
    this.output = output
    this.#write = output.write.bind(output)
    this.isTerminal = output.isTTY === true
    this.isLive = this.isTerminal && env.TERM !== 'dumb'
    this.colour = this.isLive && !env.NO_COLOR
    this.paint = createPaint(this.colour)
    this.#terminalStreams = [output, ...(errors ? [errors] : [])].filter(({ isTTY }) => isTTY)
  }

  /** Columns of the terminal; undefined without one. */
  get width(): number | undefined {
    return this.isTerminal ? this.output.columns || 80 : undefined
  }

  /** Writes text above the status line. */
  write(text: string): void {
    if (text === '') return
    const start = this.#isMidLine ? '\n' : ''
    this.#isMidLine = false
    this.#writeRaw(this.#eraseStatus() + start + text)
  }

  /** Shows a status with the seconds since `since`; undefined removes it. */
  status(label: string | undefined, since: number = Date.now()): void {
    if (label === this.#label) return
    clearInterval(this.#timer)
    this.#label = label
    this.#since = since
    if (label === undefined) {
      this.#writeRaw(this.#eraseStatus())
      this.#restore?.()
      this.#restore = undefined
      return
    }
    this.#restore ??= this.#guardStreams()
    if (this.isLive) this.#draw()
    this.#timer = this.isLive
      ? setInterval(() => this.#draw(), FRAME_MS).unref()
      : setTimeout(() => this.write(`… ${label}\n`), LONG_WAIT_MS).unref()
  }

  #draw(): void {
    if (this.#isMidLine) return
    const seconds = Math.floor((Date.now() - this.#since) / 1000)
    const elapsed = seconds > 0 ? ` ${seconds}s` : ''
    const text = truncate(this.#label ?? '', (this.width ?? 80) - elapsed.length - 4)
    const frame = FRAMES[this.#frame++ % FRAMES.length] ?? ''
    this.#isDrawn = true
    this.#writeRaw(`\r${this.paint(['cyan'], frame)} ${this.paint(['dim'], text + elapsed)}\x1b[K`) // overwrites the last frame: erasing first would flicker
  }

  #eraseStatus(): string {
    const wasDrawn = this.#isDrawn
    this.#isDrawn = false
    return wasDrawn ? ERASE : ''
  }

  #writeRaw(text: string): void {
    if (text !== '') this.#write(text)
  }

  /** While a status is shown, erases it before a tool writes to the terminal. */
  #guardStreams(): () => void {
    const restore = this.#terminalStreams.map((stream) => {
      const write = stream.write
      const guarded = (chunk: unknown, ...rest: unknown[]): boolean => {
        this.#writeRaw(this.#eraseStatus())
        this.#isMidLine = !String(chunk).endsWith('\n')
        return Reflect.apply(write, stream, [chunk, ...rest])
      }
      stream.write = guarded as typeof write // it passes all arguments on
      return () => {
        stream.write = write
      }
    })
    return () => {
      for (const undo of restore) undo()
    }
  }
}
