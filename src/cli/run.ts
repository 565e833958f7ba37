import { basename, extname } from 'node:path'
import { parseArgs } from 'node:util'
import { InMemoryArtifactService } from '../artifact/in-memory.ts'
import { InMemoryCredentialService } from '../credential/in-memory.ts'
import type { Logger } from '../dispatch/host.ts'
import { messageOf } from '../error/error.ts'
import { InMemoryMemoryService } from '../memory/in-memory.ts'
import { Runner } from '../runner/runner.ts'
import { type ChatOptions, chat } from './chat.ts'
import { type Interrupts, interruptsOf } from './interrupts.ts'
import { pipedLines, typedLines, untilExit } from './lines.ts'
import { type AgentFile, load } from './load.ts'
import { modelsFor } from './models.ts'
import { type Terminal, UsageError } from './terminal.ts'
import { visible } from './visible.ts'

export const usage = `toolwright run <file> [message]

Talks to the agent of a file: one turn when there is a message, a chat without. Messages can also be piped in, one a
line; when nothing is, the \`tour\` the file exports is played.

  --verbose   show what the framework logs, with stack traces
  --help      show this

In a chat, Ctrl-C cancels the running turn; Ctrl-D, Ctrl-C at the prompt, or "exit" leaves.
`

/** The command `run`; answers the exit code. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { file, message, verbose } = parse(args)
  const agentFile = await load(file)
  const runner = await runnerOf(agentFile, file, verbose ? loudLogger(terminal) : quiet)
  const interrupts = interruptsOf(terminal.signals, { leave: terminal.leave })
  try {
    return await talk(runner, agentFile, message, terminal, interrupts)
  } finally {
    interrupts.close()
    await runner.close()
  }
}

function parse(args: readonly string[]): { file: string; message: string | undefined; verbose: boolean } {
  let parsed: { values: { verbose?: boolean | undefined }; positionals: string[] }
  try {
    parsed = parseArgs({ args: [...args], options: { verbose: { type: 'boolean' } }, allowPositionals: true })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
  const [file, ...words] = parsed.positionals
  if (!file) throw new UsageError('Name an agent file: toolwright run <file> [message]')
  const message = words.length ? words.join(' ').trim() : undefined
  if (message === '') throw new UsageError('The message is empty.')
  return { file, message, verbose: parsed.values.verbose === true }
}

async function runnerOf({ root }: AgentFile, file: string, logger: Logger): Promise<Runner> {
  if (root instanceof Runner) return root
  return new Runner({
    appName: basename(file, extname(file)),
    agent: root,
    artifactService: new InMemoryArtifactService(),
    memoryService: new InMemoryMemoryService(),
    credentialService: new InMemoryCredentialService(),
    models: await modelsFor(root),
    logger,
  })
}

async function talk(
  runner: Runner,
  { tour }: AgentFile,
  message: string | undefined,
  terminal: Terminal,
  interrupts: Interrupts,
): Promise<number> {
  const { input, output, errors, env } = terminal
  const colour = output.isTTY === true && !env.NO_COLOR
  const options: ChatOptions = { output, colour, interrupts }
  if (message !== undefined) return exitCode(await chat(runner, [message], options))
  if (input.isTTY) {
    await chat(runner, untilExit(typedLines({ input, output, prompt: '> ' }, interrupts)), options)
    return 0
  }
  const piped = await chat(runner, untilExit(pipedLines(input, interrupts)), { ...options, echo: true })
  if (piped.turns > 0 || interrupts.wasHeard) return exitCode(piped)
  if (tour.length > 0) return exitCode(await chat(runner, tour, { ...options, echo: true }))
  errors.write('Nothing was asked: give a message, type in a terminal, or pipe messages in, one a line.\n')
  return 0
}

function exitCode({ failed }: { failed: number }): number {
  return failed > 0 ? 1 : 0
}

/** Events show what matters to somebody who chats; logs say it again, with stack traces. */
const quiet: Logger = { warn: () => {}, error: () => {} }

function loudLogger({ errors }: Terminal): Logger {
  const write = (message: string, detail: unknown): void => {
    const stack = detail instanceof Error && detail.stack ? `${detail.stack}\n` : ''
    errors.write(visible(`${message}\n${stack}`))
  }
  return { warn: write, error: write }
}
