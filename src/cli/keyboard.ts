import { PassThrough, type Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Interrupts } from './interrupts.ts'

export type KeyInput = Readable & { setRawMode?(isRaw: boolean): unknown }

/** Stands for a line end inside of a message while it is edited. */
export const NEWLINE = '↵'

const ESCAPE = '\x1b'
/** Around what is pasted. */
const PASTE_MARK = new RegExp(`${ESCAPE}\\[20[01]~`)
const HALF_MARK = new RegExp(`${ESCAPE}\\[2(?:0[01]?)?$`)
const MOST_EARLY = 10_000

/**
 * The keys of a terminal, read one by one from now on: nothing is echoed between two questions, where it would mix with
 * the output. Ctrl+C is an interrupt; other keys wait for the next prompt.
 */
export class Keyboard {
  readonly #input: KeyInput
  readonly #interrupts: Interrupts
  readonly #decoder = new StringDecoder('utf8')
  #reader: PassThrough | undefined
  #early = ''
  #half = ''
  #isPasting = false
  #isOver = false

  constructor(input: KeyInput, interrupts: Interrupts) {
    this.#input = input
    this.#interrupts = interrupts
    input.setRawMode?.(true)
    input.on('data', this.#hear)
    input.on('end', this.#end)
  }

  /** The keys of one line, up to Enter. A message starts with what was typed early; an answer never does. */
  connect(isMessage: boolean): PassThrough {
    const reader = new PassThrough()
    this.#reader = reader
    const early = this.#early
    if (isMessage && early) {
      this.#early = ''
      this.#feed(early)
    }
    if (this.#isOver) reader.end()
    return reader
  }

  disconnect(): void {
    this.#reader = undefined
  }

  /** Ctrl+Z: gives the terminal back to the shell until the process is continued. */
  suspend(onContinue: () => void): void {
    this.#input.setRawMode?.(false)
    process.once('SIGCONT', () => {
      this.#input.setRawMode?.(true)
      onContinue()
    })
    process.kill(0, 'SIGTSTP') // the whole group, as a terminal does it: a package manager stops too
  }

  close(): void {
    this.#input.off('data', this.#hear)
    this.#input.off('end', this.#end)
    this.#input.setRawMode?.(false)
    this.#input.pause()
  }

  #end = (): void => {
    this.#isOver = true
    this.#reader?.end()
  }

  #hear = (chunk: Buffer): void => {
    const text = this.#half + this.#decoder.write(chunk)
    this.#half = HALF_MARK.exec(text)?.[0] ?? ''
    const pieces = text.slice(0, text.length - this.#half.length).split(PASTE_MARK)
    for (const [at, piece] of pieces.entries()) {
      if (at > 0) this.#isPasting = !this.#isPasting
      const keys = this.#isPasting ? pasted(piece) : piece.replaceAll(`${ESCAPE}\r`, NEWLINE)
      this.#feed(keys)
    }
  }

  #feed(keys: string): void {
    const enter = keys.search(/[\r\n]/)
    const own = enter < 0 ? keys.length : enter + 1
    const rest = this.#reader ? keys.slice(own).replace(/^\n/, '') : keys
    this.#reader?.write(keys.slice(0, own))
    if (enter >= 0) this.disconnect()
    this.#keep(rest)
  }

  #keep(keys: string): void {
    const interrupts = keys.split('\x03').length - 1
    for (let at = 0; at < interrupts; at++) this.#interrupts.raise()
    this.#early = (this.#early + keys.replaceAll('\x03', '').replaceAll('\x04', '').replaceAll('\x1a', '')).slice(
      0,
      MOST_EARLY,
    )
  }
}

/** Text from a clipboard is text: its line ends do not send it, its escape sequences are no keys. */
function pasted(text: string): string {
  return text
    .replace(/\r\n?|\n/g, NEWLINE)
    .replaceAll('\t', '    ')
    .replace(/\p{Cc}/gu, '')
}
