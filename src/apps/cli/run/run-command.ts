import type { Runner } from '../../../engine/runner/runner.ts'
import { type ChatOptions, type ChatResult, chat } from '../chat/chat.ts'
import type { Command } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { openBrowser } from '../consent/open-browser.ts'
import { createInterrupts, type Interrupts } from '../input/interrupts.ts'
import { fixedLines, type LineSource } from '../input/line-source.ts'
import { pipedLines } from '../input/piped-lines.ts'
import { typedLines } from '../input/typed-lines.ts'
import { type AgentFile, loadAgentFile } from '../load/agent-file.ts'
import { databaseText, MEMORY } from '../load/app-database.ts'
import { createRunner, databaseFor } from '../load/create-runner.ts'
import { loadEnvFile } from '../load/env-file.ts'
import { withProgress } from '../screen/progress.ts'
import { Screen } from '../screen/screen.ts'
import { takeStandardOutput } from '../screen/take-standard-output.ts'
import type { Terminal } from '../terminal.ts'
import { terminalLogger, warningLogger } from '../terminal-logger.ts'
import { jsonChat } from './json/json-chat.ts'
import {
  checkSession,
  continueHint,
  type RunArguments,
  readRunArguments,
  resultHint,
  runOptions,
} from './run-arguments.ts'
import { TraceTree } from './trace-tree.ts'

/** Exit code when a request is open at the end. */
const PAUSED = 3

/** `toolwright run`. */
export const runCommand: Command = defineCommand({
  name: 'run',
  summary: 'Chat with the agent in a file',
  usage: '<file> [message]',
  description: [
    'Runs the agent that a file exports. With a message it runs one turn, without one it starts a chat. Messages can also be piped in, one per line. With empty input it plays the `tour` that the file exports. Variables in the .env file of the working directory are loaded first; variables that are already set keep their value.',
    'Sessions are stored in .toolwright/<app>.db, which `toolwright web` and `toolwright serve` use too: a request that is open here can be answered there.',
  ],
  options: runOptions,
  notes: [
    'In a chat, /help lists the commands. A call that needs approval is shown with its arguments: yes approves it; no denies it, optionally followed by a reason. A tool that needs a sign-in opens the browser and waits for it; no or Ctrl+C declines the sign-in. At any other time Ctrl+C cancels the running turn, or the turn whose request is shown; a second Ctrl+C exits. Ctrl+D exits and leaves the request pending. NO_COLOR=1 turns off colours and rendered markdown.',
    'With --json each line of standard input is a turn: {"message": "..."}, a text, or {"answer": {"id": "...", "confirmed": true}}. Its events follow as JSON lines, then {"end": {"status", "sessionId", "pending", ...}} with the open requests.',
  ],
  examples: [
    ['toolwright run agent.ts', 'chat in the terminal'],
    ['toolwright run agent.ts "Is it cold in Oslo?"', 'one turn'],
    ['toolwright run agent.ts --session s1', 'continue a session and its open requests'],
    [`echo '{"message":"Refund A-7"}' | toolwright run agent.ts --json`, 'events for a program'],
  ],
  exitCodes: { 0: 'all turns completed, or the chat ended', 1: 'a turn failed', [PAUSED]: 'a request is still open' },
  run: async (line, terminal) => await run(readRunArguments(line), terminal),
})

async function run(given: RunArguments, ofProcess: Terminal): Promise<number> {
  const terminal = given.json ? { ...ofProcess, output: takeStandardOutput(ofProcess) } : ofProcess
  loadEnvFile(terminal.folder, terminal.env)
  const logger = given.verbose ? terminalLogger(terminal) : warningLogger(terminal)
  const { agentFile, db, runner, close } = await withProgress(terminal, `Loading ${given.file}`, async () => {
    const agentFile = await loadAgentFile(given.file)
    const storage = databaseFor(agentFile, given, terminal.folder)
    return { agentFile, db: storage.db, ...(await createRunner(agentFile, storage, logger)) }
  })
  const screen = new Screen(terminal)
  if (given.trace)
    runner.internals.observe(
      new TraceTree(given.json ? (text) => void terminal.errors.write(text) : (text) => screen.write(text)),
    )
  const exit = (): void => {
    screen.status(undefined)
    terminal.exit()
  }
  const interrupts = createInterrupts(terminal.signals, { onUnhandled: exit })
  const setup = { runner, db, given, tour: agentFile.tour, terminal, screen, interrupts }
  try {
    if (given.sessionId !== undefined) await checkSession(runner, given, terminal)
    return given.json ? await startJson(setup) : await startChat(setup)
  } finally {
    interrupts.close()
    await runner.close()
    close()
  }
}

interface ChatSetup {
  readonly runner: Runner
  /** The database; undefined if the file exports a runner. */
  readonly db: string | undefined
  readonly tour: AgentFile['tour']
  readonly given: RunArguments
  readonly terminal: Terminal
  readonly screen: Screen
  readonly interrupts: Interrupts
}

async function startJson({ runner, given, terminal, interrupts }: ChatSetup): Promise<number> {
  const { message, userId, sessionId } = given
  const text = message?.startsWith('{') ? JSON.stringify({ message }) : message // a message is never read as JSON
  const lines = text === undefined ? pipedLines(terminal, interrupts) : fixedLines([text])
  try {
    const { output } = terminal
    const { statuses, hasOpenRequests } = await jsonChat(runner, lines, { userId, sessionId, output, interrupts })
    if (statuses.some((status) => status === 'failed' || status === 'cancelled')) return 1
    return hasOpenRequests ? PAUSED : 0
  } finally {
    lines.close()
  }
}

async function startChat({ runner, db, tour, given, terminal, screen, interrupts }: ChatSetup): Promise<number> {
  const { input, output, errors } = terminal
  const { message, userId, sessionId, verbose } = given
  const isPersistent = db !== MEMORY
  const storage = databaseText(db, given.db, terminal.folder)
  const options = {
    screen,
    interrupts,
    userId,
    sessionId,
    verbose,
    storage,
    isPersistent,
    resultHint: (request: { id: string; sessionId: string }) => resultHint(given, request, isPersistent),
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
  if (tour.length > 0) {
    const tourOptions = { ...options, answers: noAnswers, showsMessages: true, stopsAtOpenRequest: true }
    return exitCode(await chat(runner, fixedLines(tour), tourOptions))
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

function exitCode({ failed, hasOpenRequests }: ChatResult): number {
  if (failed > 0) return 1
  return hasOpenRequests ? PAUSED : 0
}
