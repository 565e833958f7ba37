import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { Interrupts } from './interrupts.ts'
import type { Heard, Lines } from './lines.ts'

interface Keyboard {
  readonly input: Readable
  readonly output: Writable
  /** What a message is asked for with. */
  readonly prompt: string
}

/** Lines typed at a prompt. A paste gives several messages; an answer is what is typed once its question is shown. */
export function typedLines(keyboard: Keyboard, interrupts: Interrupts): Lines {
  const { input, output, prompt } = keyboard
  const memory: Memory = { history: [], rest: '', pasted: [] }
  let isOver = false

  async function readMessage(): Promise<Heard> {
    const waiting = memory.pasted.shift()
    if (waiting !== undefined) return { type: 'line', text: waiting }
    return await ask({ input, output, prompt }, memory, interrupts)
  }
  async function readAnswer(question: string): Promise<Heard> {
    await dropTyped(input)
    return await ask({ input, output, prompt: question }, { history: [], rest: '', pasted: [] }, interrupts)
  }
  return {
    async read(question) {
      if (isOver) return { type: 'end' }
      const heard = await (question === undefined ? readMessage() : readAnswer(question))
      isOver = heard.type === 'end'
      return heard
    },
    close: () => {},
  }
}

/** What outlives a prompt: earlier lines, further ones of a paste, and what was typed after its last newline. */
interface Memory {
  history: string[]
  rest: string
  pasted: string[]
}

/**
 * Asks once. The reader lives only as long as the question: between questions the terminal is in its usual mode, where
 * Ctrl-C is a signal that reaches a running turn.
 */
async function ask({ input, output, prompt }: Keyboard, memory: Memory, interrupts: Interrupts): Promise<Heard> {
  const reader = createInterface({ input, output, prompt, terminal: true, history: memory.history })
  const lines: string[] = []
  let ended: Heard | undefined
  let forget = (): void => {}
  await new Promise<void>((resolve) => {
    const end = (how: Heard): void => {
      ended ??= how
      resolve()
    }
    const interrupt = (): void => end({ type: 'interrupt' })
    forget = interrupts.listen(interrupt)
    reader.on('line', (line) => {
      lines.push(line)
      resolve()
    })
    reader.on('history', (history) => {
      memory.history = history
    })
    reader.on('SIGINT', interrupt)
    reader.on('close', () => end({ type: 'end' }))
    reader.prompt()
    if (memory.rest) reader.write(memory.rest)
  })
  forget()
  const [text, ...more] = lines
  memory.rest = ended || text === undefined ? '' : reader.line
  reader.close()
  if (text === undefined || memory.rest) output.write('\n') // what comes next gets a line of its own
  if (text === undefined) return ended ?? { type: 'end' }
  memory.pasted.push(...more)
  return { type: 'line', text }
}

/** Whatever was typed before a question was shown is no answer to it. */
async function dropTyped(input: Readable): Promise<void> {
  input.resume() // nobody listens: what comes is gone
  await setImmediate() // once for what the stream holds, once for what the terminal held back
  await setImmediate()
  input.pause()
}
