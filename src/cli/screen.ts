import type { Writable } from 'node:stream'
import { cut } from './columns.ts'
import { type Paint, paintFor } from './paint.ts'

export interface ScreenOptions {
  readonly output: Output
  /** Written to by tools and the log; the status line makes room for it. */
  readonly errors?: Output | undefined
  readonly env: { readonly [name: string]: string | undefined }
}

export type Output = Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined }

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100
/** Where nothing can be drawn again, a long wait is mentioned once. */
const MENTION_MS = 10_000
const ERASE = '\r\x1b[K'

/** Where a chat is shown: text that stays, and below it one status line that is drawn again and again. */
export class Screen {
  readonly output: Output
  readonly isTerminal: boolean
  /** Can a line be drawn again? */
  readonly isLive: boolean
  readonly colour: boolean
  readonly paint: Paint
  /** The stream's own, past the guard below. */
  readonly #write: (text: string) => void
  readonly #shared: readonly Output[]
  #label: string | undefined
  #since = 0
  #frame = 0
  #timer: NodeJS.Timeout | undefined
  #isDrawn = false
  /** A tool wrote text without an end of line. */
  #isInterrupted = false
  #restore: (() => void) | undefined

  constructor({ output, errors, env }: ScreenOptions) {
    this.output = output
    this.#write = output.write.bind(output)
    this.isTerminal = output.isTTY === true
    this.isLive = this.isTerminal && env.TERM !== 'dumb'
    this.colour = this.isLive && !env.NO_COLOR
    this.paint = paintFor(this.colour)
    this.#shared = [output, ...(errors ? [errors] : [])].filter(({ isTTY }) => isTTY)
  }

  /** The columns of the terminal; undefined where there is none. */
  get width(): number | undefined {
    return this.isTerminal ? this.output.columns || 80 : undefined
  }

  write(text: string): void {
    if (text === '') return
    const start = this.#isInterrupted ? '\n' : ''
    this.#isInterrupted = false
    this.#own(this.#erased() + start + text)
  }

  /** Says what is being waited for, and since when; undefined takes it away. */
  status(label: string | undefined, since: number = Date.now()): void {
    if (label === this.#label) return
    clearInterval(this.#timer)
    this.#label = label
    this.#since = since
    if (label === undefined) {
      this.#own(this.#erased())
      this.#restore?.()
      this.#restore = undefined
      return
    }
    this.#restore ??= this.#makeRoom()
    if (this.isLive) this.#draw()
    this.#timer = this.isLive
      ? setInterval(() => this.#draw(), FRAME_MS).unref()
      : setTimeout(() => this.write(`… ${label}\n`), MENTION_MS).unref()
  }

  #draw(): void {
    if (this.#isInterrupted) return
    const seconds = Math.floor((Date.now() - this.#since) / 1000)
    const elapsed = seconds > 0 ? ` ${seconds}s` : ''
    const text = cut(this.#label ?? '', (this.width ?? 80) - elapsed.length - 4)
    const frame = FRAMES[this.#frame++ % FRAMES.length] ?? ''
    this.#isDrawn = true
    this.#own(`\r${this.paint(['cyan'], frame)} ${this.paint(['dim'], text + elapsed)}\x1b[K`) // over the last one: no flicker
  }

  #erased(): string {
    const wasDrawn = this.#isDrawn
    this.#isDrawn = false
    return wasDrawn ? ERASE : ''
  }

  #own(text: string): void {
    if (text !== '') this.#write(text)
  }

  /** While there is a status, whatever a tool writes to the terminal replaces it. */
  #makeRoom(): () => void {
    const restore = this.#shared.map((stream) => {
      const write = stream.write
      const guarded = (chunk: unknown, ...rest: unknown[]): boolean => {
        this.#own(this.#erased())
        this.#isInterrupted = !String(chunk).endsWith('\n')
        return Reflect.apply(write, stream, [chunk, ...rest])
      }
      stream.write = guarded as typeof write // the same arguments, handed on
      return () => {
        stream.write = write
      }
    })
    return () => {
      for (const undo of restore) undo()
    }
  }
}
