import { basename, extname } from 'node:path'
import { InMemoryArtifactService } from '../artifact/in-memory.ts'
import { InMemoryCredentialService } from '../credential/in-memory.ts'
import type { Logger } from '../dispatch/host.ts'
import { InMemoryMemoryService } from '../memory/in-memory.ts'
import { Runner } from '../runner/runner.ts'
import { type ChatOptions, type ChatResult, chat } from './chat/chat.ts'
import { openBrowser } from './consent/open-browser.ts'
import { createInterrupts, type Interrupts } from './input/interrupts.ts'
import { fixedLines, type LineSource, pipedLines } from './input/line-source.ts'
import { typedLines } from './input/typed-lines.ts'
import { type AgentFile, loadAgentFile } from './load/agent-file.ts'
import { loadEnvFile } from './load/env-file.ts'
import { modelsFor } from './models.ts'
import { continueHint, parseRunArguments, type RunArguments } from './run-arguments.ts'
import { Screen } from './screen/screen.ts'
import { type Terminal, UsageError } from './terminal.ts'
import { terminalLogger, warningLogger } from './terminal-logger.ts'

/** The help text of `toolwright run`. */
export const runUsage = `toolwright run <file> [message]

Runs the agent that a file exports. With a message it runs one turn, without one it starts a chat. Messages can also be
piped in, one per line. With empty input it plays the \`tour\` that the file exports. Variables in the .env file of the
working directory are loaded first; variables that are already set keep their value.

  --session <id>   Continue this session and ask its pending requests first
  --user <id>      User the session belongs to (default: user)
  --app <name>     App the session belongs to (default: the file name)
  --db <file>      Store sessions, artifacts and credentials in this SQLite file
  --no-browser     Print the link of a sign-in without opening the browser
  --verbose        Show results in full, and the framework's log
  --help           Show this help

In a chat, /help lists the commands. A call that needs approval is shown with its arguments: yes approves it; no denies
it, optionally followed by a reason. A tool that needs a sign-in opens the browser and waits for it; no or Ctrl+C
declines the sign-in. At any other time Ctrl+C cancels the running turn, or the turn whose request is shown; a second
Ctrl+C exits. Ctrl+D exits and leaves the request pending. NO_COLOR=1 turns off colours and rendered markdown.
`

/** Runs `toolwright run` and returns the exit code. */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const given = parseRunArguments(args)
  loadEnvFile(terminal.folder, terminal.env)
  const agentFile = await loadAgentFile(given.file)
  const { runner, close } = await createRunner(
    agentFile,
    given,
    given.verbose ? terminalLogger(terminal) : warningLogger(terminal),
  )
  const screen = new Screen(terminal)
  const exit = (): void => {
    screen.status(undefined)
    terminal.exit()
  }
  const interrupts = createInterrupts(terminal.signals, { onUnhandled: exit })
  try {
    return await startChat({ runner, agentFile, given, terminal, screen, interrupts })
  } finally {
    interrupts.close()
    await runner.close()
    close()
  }
}

/** Returns the runner that the file exports, or creates one for its agent. */
async function createRunner(
  { root }: AgentFile,
  { file, app, db }: RunArguments,
  logger: Logger,
): Promise<{ runner: Runner; close(): void }> {
  if (root instanceof Runner) {
    if (db === undefined) return { runner: root, close: () => {} }
    throw new UsageError(
      `--db cannot be used with "${file}": the file exports a Runner, which has its own services. Remove --db.`,
    )
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

interface ChatSetup {
  readonly runner: Runner
  readonly agentFile: AgentFile
  readonly given: RunArguments
  readonly terminal: Terminal
  readonly screen: Screen
  readonly interrupts: Interrupts
}

async function startChat({ runner, agentFile, given, terminal, screen, interrupts }: ChatSetup): Promise<number> {
  const { input, output, errors } = terminal
  const { message, userId, sessionId, verbose, db } = given
  const isPersistent = db !== undefined || agentFile.root instanceof Runner
  const storage =
    db !== undefined ? `in ${db}` : isPersistent ? "in the runner's store" : 'in memory (save with --db <file>)'
  const options = {
    screen,
    interrupts,
    userId,
    sessionId,
    verbose,
    storage,
    isPersistent,
    continueHint: (id: string) => continueHint(given, id, isPersistent),
  }
  if (input.isTTY && screen.isTerminal) {
    const prompt = screen.paint(['bold', 'cyan'], '> ')
    const typed = typedLines({ input, output, prompt, marksPaste: screen.isLive }, interrupts)
    const typedOptions = {
      ...options,
      answers: typed,
      openBrowser: given.opensBrowser ? (url: string) => openBrowser(url) : undefined,
    }
    try {
      if (message !== undefined) return exitCode(await chat(runner, fixedLines([message]), typedOptions))
      await chat(runner, typed, { ...typedOptions, hasCommands: true })
      return 0
    } finally {
      typed.close()
    }
  }
  if (message !== undefined)
    return exitCode(await chat(runner, fixedLines([message]), { ...options, answers: noAnswers }))
  const done = await chatPiped(runner, terminal, options)
  if (done.turns > 0 || done.hasOpenRequests || interrupts.wasRaised) return exitCode(done)
  if (agentFile.tour.length > 0) {
    return exitCode(
      await chat(runner, fixedLines(agentFile.tour), { ...options, answers: noAnswers, showsMessages: true }),
    )
  }
  errors.write('No message given. Pass a message, run in a terminal, or pipe messages in, one per line.\n')
  return exitCode(done)
}

/** Leaves every pending request unanswered. */
const noAnswers: LineSource = fixedLines([])

async function chatPiped(
  runner: Runner,
  terminal: Terminal,
  options: Omit<ChatOptions, 'answers'>,
): Promise<ChatResult> {
  const piped = pipedLines(terminal, options.interrupts)
  try {
    const answers = terminal.input.isTTY ? noAnswers : piped // the prompt goes to a file: the user would not see it
    return await chat(runner, piped, { ...options, answers, showsMessages: true })
  } finally {
    piped.close()
  }
}

function exitCode({ failed }: { failed: number }): number {
  return failed > 0 ? 1 : 0
}
