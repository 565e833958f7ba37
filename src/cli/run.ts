import { basename, extname } from 'node:path'
import { InMemoryArtifactService } from '../artifact/in-memory.ts'
import { InMemoryCredentialService } from '../credential/in-memory.ts'
import type { Logger } from '../dispatch/host.ts'
import { InMemoryMemoryService } from '../memory/in-memory.ts'
import { Runner } from '../runner/runner.ts'
import { type ChatOptions, type Chatted, chat } from './chat.ts'
import { loadEnvFile } from './env-file.ts'
import { type Interrupts, interruptsOf } from './interrupts.ts'
import { knownLines, type Lines, pipedLines } from './lines.ts'
import { type AgentFile, load } from './load.ts'
import { modelsFor } from './models.ts'
import { howToGoOn, parseRun, type RunArguments } from './run-arguments.ts'
import { Screen } from './screen.ts'
import { type Terminal, UsageError } from './terminal.ts'
import { typedLines } from './typed-lines.ts'
import { visible } from './visible.ts'

export const usage = `toolwright run <file> [message]

Talks to the agent of a file: one turn when there is a message, a chat without. Messages can also be piped in, one a
line; when nothing is, the \`tour\` the file exports is played. Variables in the file .env of the working directory are
loaded first; those that are set already stay.

  --session <id>   continue this session; what it waits for is asked first
  --user <id>      whose session it is (default: user)
  --app <name>     the app it belongs to (default: the name of the file)
  --db <file>      keep sessions and artifacts in this SQLite file
  --verbose        show results whole and what the framework logs
  --help           show this

In a chat, /help lists the commands. When a call needs approval it is shown with its arguments: yes approves, no denies,
a reason may follow; anything else is asked again. Ctrl+C cancels the running turn, or the one that asks; pressed again
it leaves. Ctrl+D leaves and keeps the question open. NO_COLOR=1 turns colours and rendered markdown off.
`

/** The command `run`; answers the exit code. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const given = parseRun(args)
  loadEnvFile(terminal.folder, terminal.env)
  const agentFile = await load(given.file)
  const { runner, close } = await open(agentFile, given, given.verbose ? loudLogger(terminal) : quiet)
  const screen = new Screen(terminal)
  const leave = (): void => {
    screen.status(undefined)
    terminal.leave()
  }
  const interrupts = interruptsOf(terminal.signals, { leave })
  try {
    return await talk({ runner, agentFile, given, terminal, screen, interrupts })
  } finally {
    interrupts.close()
    await runner.close()
    close()
  }
}

/** The runner of the file, or one for its agent. */
async function open(
  { root }: AgentFile,
  { file, app, db }: RunArguments,
  logger: Logger,
): Promise<{ runner: Runner; close(): void }> {
  if (root instanceof Runner) {
    if (db === undefined) return { runner: root, close: () => {} }
    throw new UsageError(`"${file}" exports a Runner, which has services of its own: leave --db out.`)
  }
  const stored = db === undefined ? undefined : (await import('../sqlite/sqlite.ts')).sqlite(db)
  const runner = new Runner({
    appName: app ?? basename(file, extname(file)),
    agent: root,
    artifactService: new InMemoryArtifactService(),
    memoryService: new InMemoryMemoryService(),
    credentialService: new InMemoryCredentialService(),
    ...stored,
    models: await modelsFor(root),
    logger,
  })
  return { runner, close: () => stored?.close() }
}

interface Talk {
  readonly runner: Runner
  readonly agentFile: AgentFile
  readonly given: RunArguments
  readonly terminal: Terminal
  readonly screen: Screen
  readonly interrupts: Interrupts
}

async function talk({ runner, agentFile, given, terminal, screen, interrupts }: Talk): Promise<number> {
  const { input, output, errors } = terminal
  const { message, userId, sessionId, verbose, db } = given
  const isKept = db !== undefined || agentFile.root instanceof Runner
  const kept = db !== undefined ? `in ${db}` : isKept ? 'where the runner keeps it' : 'in memory (--db <file> keeps it)'
  const options = {
    screen,
    interrupts,
    userId,
    sessionId,
    verbose,
    kept,
    isKept,
    howToGoOn: (id: string) => howToGoOn(given, id, isKept),
  }
  if (input.isTTY && screen.isTerminal) {
    const prompt = screen.paint(['bold', 'cyan'], '> ')
    const typed = typedLines({ input, output, prompt, marksPaste: screen.isLive }, interrupts)
    try {
      if (message !== undefined)
        return exitCode(await chat(runner, knownLines([message]), { ...options, answers: typed }))
      await chat(runner, typed, { ...options, answers: typed, hasCommands: true })
      return 0
    } finally {
      typed.close()
    }
  }
  if (message !== undefined) return exitCode(await chat(runner, knownLines([message]), { ...options, answers: nobody }))
  const done = await chatPiped(runner, terminal, options)
  if (done.turns > 0 || done.isLeftOpen || interrupts.wasHeard) return exitCode(done)
  if (agentFile.tour.length > 0) {
    return exitCode(await chat(runner, knownLines(agentFile.tour), { ...options, answers: nobody, echo: true }))
  }
  errors.write('Nothing was asked: give a message, type in a terminal, or pipe messages in, one a line.\n')
  return exitCode(done)
}

/** Where no question finds anybody. */
const nobody: Lines = knownLines([])

async function chatPiped(runner: Runner, terminal: Terminal, options: Omit<ChatOptions, 'answers'>): Promise<Chatted> {
  const piped = pipedLines(terminal, options.interrupts)
  try {
    const answers = terminal.input.isTTY ? nobody : piped // no person sees a question that goes to a file
    return await chat(runner, piped, { ...options, answers, echo: true })
  } finally {
    piped.close()
  }
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
