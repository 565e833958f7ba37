import { createInterface } from 'node:readline'
import type { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { COMMANDS } from '../chat/commands.ts'
import type { Interrupts } from './interrupts.ts'
import { Keyboard, type KeyInput, NEWLINE } from './keyboard.ts'
import type { LineResult, LineSource } from './line-source.ts'

interface TypedOptions {
  readonly input: KeyInput
  readonly output: Writable
  /** Shown in front of a message. */
  readonly prompt: string
  /** Ask the terminal to mark pasted text. */
  readonly marksPaste?: boolean | undefined
}

/** Reads lines typed at a prompt. Only keys typed after a request is shown count as its answer. */
export function typedLines(options: TypedOptions, interrupts: Interrupts): LineSource {
  const keyboard = new Keyboard(options.input, interrupts)
  const base = { ...options, keyboard, interrupts }
  let history: string[] = []
  let isEnded = false

  async function readMessage(): Promise<LineResult> {
    const onHistory = (lines: string[]): void => {
      history = lines
    }
    for (let isWarned = false; ; ) {
      const { result, unsentText } = await promptOnce({ ...base, history, onHistory })
      if (result.type !== 'interrupt') return result
      if (unsentText !== '') continue // Ctrl+C cleared the line
      if (isWarned) return result
      isWarned = true
      options.output.write('Press Ctrl+C again to exit.\n')
    }
  }
  async function readAnswer(
    prompt: string,
    initial: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<LineResult> {
    await setImmediate() // once for keys in the stream's buffer, once for keys in the terminal's buffer
    await setImmediate()
    return (await promptOnce({ ...base, prompt, initial, signal })).result
  }
  return {
    async read(label, initial, signal) {
      if (isEnded) return { type: 'end' }
      const result = await (label === undefined ? readMessage() : readAnswer(label, initial, signal))
      isEnded = result.type === 'end'
      return result.type === 'line' ? { type: 'line', text: result.text.replaceAll(NEWLINE, '\n') } : result
    },
    close: () => keyboard.close(),
  }
}

interface PromptOptions extends TypedOptions {
  readonly keyboard: Keyboard
  readonly interrupts: Interrupts
  /** Earlier messages; undefined for an answer. */
  readonly history?: string[] | undefined
  readonly onHistory?: ((lines: string[]) => void) | undefined
  /** Text that is on the line from the start. */
  readonly initial?: string | undefined
  /** Removes the prompt. */
  readonly signal?: AbortSignal | undefined
}

/** Shows one prompt with its own line editor. `unsentText` is the text of a line that Ctrl+C interrupted. */
async function promptOnce(base: PromptOptions): Promise<{ readonly result: LineResult; readonly unsentText: string }> {
  const { output, prompt, keyboard, interrupts, history, onHistory, initial, signal, marksPaste } = base
  const isMessage = history !== undefined
  if (marksPaste) output.write('\x1b[?2004h')
  const reader = createInterface({
    input: keyboard.connect(isMessage),
    output,
    prompt,
    terminal: true,
    history: history ?? [],
    completer: isMessage ? completeCommand : completeNothing,
  })
  let stopListening = (): void => {}
  const result = await new Promise<LineResult>((resolve) => {
    const abort = (): void => resolve({ type: 'aborted' })
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    const interrupt = (): void => resolve({ type: 'interrupt' })
    stopListening = interrupts.listen(interrupt)
    reader.on('line', (text) => resolve({ type: 'line', text }))
    reader.on('history', (lines) => onHistory?.(lines))
    reader.on('SIGINT', interrupt)
    reader.on('SIGTSTP', () => keyboard.suspend(() => reader.prompt(true)))
    reader.on('close', () => resolve({ type: 'end' }))
    reader.prompt()
    if (initial) reader.write(initial)
  })
  stopListening()
  const unsentText = result.type === 'interrupt' ? reader.line : ''
  keyboard.disconnect()
  reader.close()
  if (result.type !== 'line') output.write('\n') // the next output starts on a new line
  if (marksPaste) output.write('\x1b[?2004l')
  return { result, unsentText }
}

/** Completes the name of a command on Tab. */
function completeCommand(line: string): [string[], string] {
  return [[...COMMANDS.keys()].map((name) => `/${name}`).filter((name) => line !== '' && name.startsWith(line)), line]
}

function completeNothing(line: string): [string[], string] {
  return [[], line]
}
