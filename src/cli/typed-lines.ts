import { createInterface } from 'node:readline'
import type { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { COMMANDS } from './commands.ts'
import type { Interrupts } from './interrupts.ts'
import { Keyboard, type KeyInput, NEWLINE } from './keyboard.ts'
import type { Heard, Lines } from './lines.ts'

interface TypedOptions {
  readonly input: KeyInput
  readonly output: Writable
  /** What a message is asked for with. */
  readonly prompt: string
  /** Ask the terminal to mark what is pasted. */
  readonly marksPaste?: boolean | undefined
}

/** Lines typed at a prompt. An answer is what is typed once its question is shown. */
export function typedLines(options: TypedOptions, interrupts: Interrupts): Lines {
  const keyboard = new Keyboard(options.input, interrupts)
  const asking = { ...options, keyboard, interrupts }
  let history: string[] = []
  let isOver = false

  async function readMessage(): Promise<Heard> {
    const onHistory = (lines: string[]): void => {
      history = lines
    }
    for (let isWarned = false; ; ) {
      const { heard, left } = await ask({ ...asking, history, onHistory })
      if (heard.type !== 'interrupt') return heard
      if (left !== '') continue // Ctrl+C cleared the line
      if (isWarned) return heard
      isWarned = true
      options.output.write('Ctrl+C again leaves.\n')
    }
  }
  async function readAnswer(prompt: string, initial: string | undefined): Promise<Heard> {
    await setImmediate() // once for what the stream holds, once for what the terminal held back
    await setImmediate()
    return (await ask({ ...asking, prompt, initial })).heard
  }
  return {
    async read(question, initial) {
      if (isOver) return { type: 'end' }
      const heard = await (question === undefined ? readMessage() : readAnswer(question, initial))
      isOver = heard.type === 'end'
      return heard.type === 'line' ? { type: 'line', text: heard.text.replaceAll(NEWLINE, '\n') } : heard
    },
    close: () => keyboard.close(),
  }
}

interface Asking extends TypedOptions {
  readonly keyboard: Keyboard
  readonly interrupts: Interrupts
  /** Earlier messages; an answer has none. */
  readonly history?: string[] | undefined
  readonly onHistory?: ((lines: string[]) => void) | undefined
  /** Stands on the line from the start. */
  readonly initial?: string | undefined
}

/** Asks once: the line editor lives as long as the question. `left` is what stood on a line that was not sent. */
async function ask(asking: Asking): Promise<{ readonly heard: Heard; readonly left: string }> {
  const { output, prompt, keyboard, interrupts, history, onHistory, initial, marksPaste } = asking
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
  let forget = (): void => {}
  const heard = await new Promise<Heard>((resolve) => {
    const interrupt = (): void => resolve({ type: 'interrupt' })
    forget = interrupts.listen(interrupt)
    reader.on('line', (text) => resolve({ type: 'line', text }))
    reader.on('history', (lines) => onHistory?.(lines))
    reader.on('SIGINT', interrupt)
    reader.on('SIGTSTP', () => keyboard.suspend(() => reader.prompt(true)))
    reader.on('close', () => resolve({ type: 'end' }))
    reader.prompt()
    if (initial) reader.write(initial)
  })
  forget()
  const left = heard.type === 'interrupt' ? reader.line : ''
  keyboard.disconnect()
  reader.close()
  if (heard.type !== 'line') output.write('\n') // what comes next gets a line of its own
  if (marksPaste) output.write('\x1b[?2004l')
  return { heard, left }
}

/** Tab completes the name of a command. */
function completeCommand(line: string): [string[], string] {
  return [[...COMMANDS.keys()].map((name) => `/${name}`).filter((name) => line !== '' && name.startsWith(line)), line]
}

function completeNothing(line: string): [string[], string] {
  return [[], line]
}
