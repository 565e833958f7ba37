import { PassThrough, type Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Interrupts } from './interrupts.ts'

/** A stream of key presses. */
export type KeyInput = Readable & {
  /** Delivers each key press at once, without echo. Only a terminal has it. */
  setRawMode?(isRaw: boolean): unknown
}

/** Shown for a line break inside a message while it is edited. */
export const NEWLINE = '↵'

const ESCAPE = '\x1b'
/** A terminal writes it before and after pasted text. */
const PASTE_MARK = new RegExp(`${ESCAPE}\\[20[01]~`)
const PARTIAL_PASTE_MARK = new RegExp(`${ESCAPE}\\[2(?:0[01]?)?$`)
const MAX_TYPE_AHEAD = 10_000

/**
 * Reads the keys of a terminal in raw mode, so that nothing is echoed into the output between two prompts. Ctrl+C raises
 * an interrupt; other keys wait for the next prompt.
 */
export class Keyboard {
  readonly #input: KeyInput
  readonly #interrupts: Interrupts
  readonly #decoder = new StringDecoder('utf8')
  #reader: PassThrough | undefined
  #typeAhead = ''
  #partialMark = ''
  #isPasting = false
  #isEnded = false

  constructor(input: KeyInput, interrupts: Interrupts) {
    this.#input = input
    this.#interrupts = interrupts
    input.setRawMode?.(true)
    input.on('data', this.#onData)
    input.on('end', this.#onEnd)
  }

  /**
   * Returns the keys of one line, up to Enter. A message starts with the keys typed before its prompt; an answer never
   * does.
   */
  connect(isMessage: boolean): PassThrough {
    const reader = new PassThrough()
    this.#reader = reader
    const typeAhead = this.#typeAhead
    if (isMessage && typeAhead) {
      this.#typeAhead = ''
      this.#passOn(typeAhead)
    }
    if (this.#isEnded) reader.end()
    return reader
  }

  /** Ends the current line: later keys wait for the next prompt. */
  disconnect(): void {
    this.#reader = undefined
  }

  /** Handles Ctrl+Z: returns the terminal to the shell until the process is continued. */
  suspend(onContinue: () => void): void {
    this.#input.setRawMode?.(false)
    process.once('SIGCONT', () => {
      this.#input.setRawMode?.(true)
      onContinue()
    })
    process.kill(0, 'SIGTSTP') // stops the whole process group, like a terminal: a package manager stops too
  }

  /** Stops reading and restores the terminal mode. */
  close(): void {
    this.#input.off('data', this.#onData)
    this.#input.off('end', this.#onEnd)
    this.#input.setRawMode?.(false)
    this.#input.pause()
  }

  #onEnd = (): void => {
    this.#isEnded = true
    this.#reader?.end()
  }

  #onData = (chunk: Buffer): void => {
    const text = this.#partialMark + this.#decoder.write(chunk)
    this.#partialMark = PARTIAL_PASTE_MARK.exec(text)?.[0] ?? ''
    const pieces = text.slice(0, text.length - this.#partialMark.length).split(PASTE_MARK)
    for (const [at, piece] of pieces.entries()) {
      if (at > 0) this.#isPasting = !this.#isPasting
      const keys = this.#isPasting ? cleanPaste(piece) : piece.replaceAll(`${ESCAPE}\r`, NEWLINE)
      this.#passOn(keys)
    }
  }

  #passOn(keys: string): void {
    const enter = keys.search(/[\r\n]/)
    const own = enter < 0 ? keys.length : enter + 1
    const rest = this.#reader ? keys.slice(own).replace(/^\n/, '') : keys
    this.#reader?.write(keys.slice(0, own))
    if (enter >= 0) this.disconnect()
    this.#bufferKeys(rest)
  }

  #bufferKeys(keys: string): void {
    const interrupts = keys.split('\x03').length - 1
    for (let at = 0; at < interrupts; at++) this.#interrupts.raise()
    this.#typeAhead = (
      this.#typeAhead + keys.replaceAll('\x03', '').replaceAll('\x04', '').replaceAll('\x1a', '')
    ).slice(0, MAX_TYPE_AHEAD)
  }
}

/** Keeps pasted text as text: its line breaks do not send the message, its escape sequences are not keys. */
function cleanPaste(text: string): string {
  return text
    .replace(/\r\n?|\n/g, NEWLINE)
    .replaceAll('\t', '    ')
    .replace(/\p{Cc}/gu, '')
}
