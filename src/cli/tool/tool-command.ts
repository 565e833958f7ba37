import { agentTool } from '../../agent/agents/agent-tool.ts'
import { isFailure } from '../../event/fold.ts'
import type { CallOutcome } from '../../runner/single-call/call-outcome.ts'
import { CallRunner } from '../../runner/single-call/call-runner.ts'
import { openBrowser } from '../consent/open-browser.ts'
import { createInterrupts, type Interrupts } from '../input/interrupts.ts'
import { typedLines } from '../input/typed-lines.ts'
import { loadAgentFile } from '../load/agent-file.ts'
import { loadEnvFile } from '../load/env-file.ts'
import { servedAgent } from '../load/served-agent.ts'
import { collectAnswers } from '../requests/collect-answers.ts'
import { openPrompts } from '../requests/open-prompts.ts'
import { requestSummary } from '../requests/request-prompt.ts'
import { escapeText } from '../screen/escape.ts'
import { Screen } from '../screen/screen.ts'
import type { Terminal } from '../terminal.ts'
import { terminalLogger, warningLogger } from '../terminal-logger.ts'
import { parseToolArguments, type ToolArguments } from './tool-arguments.ts'

/** The help text of `toolwright tool`. */
export const toolUsage = `toolwright tool <file> <name>

Calls one tool of the agent that a file exports, or the agent itself, and prints the result as JSON. Gates and policies
apply: in a terminal you are asked for approvals and inputs; otherwise the command fails and says what is pending.

  --args <json>    Arguments of the call (default: {})
  --user <id>      User the tool acts for (default: user)
  --app <name>     App the session belongs to (default: the file name)
  --db <file>      Store sessions, artifacts and credentials in this SQLite file
  --verbose        Show progress and the framework's log
  --help           Show this help
`

/** The name of the agent that makes the call, in the event log. */
const AGENT_NAME = 'cli'

/** Runs `toolwright tool` and returns the exit code. */
export async function toolCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const given = parseToolArguments(args)
  loadEnvFile(terminal.folder, terminal.env)
  const logger = given.verbose ? terminalLogger(terminal) : warningLogger(terminal)
  const { agent, tools, options, close } = await servedAgent(await loadAgentFile(given.file), given, logger)
  const calls = new CallRunner({ ...options, agentName: AGENT_NAME, tools: [...tools, agentTool(agent)] })
  const controller = new AbortController()
  const interrupts = createInterrupts(terminal.signals, { onUnhandled: () => controller.abort() })
  try {
    const call = { calls, given, terminal, interrupts, signal: controller.signal }
    return print(await runCall(call), given, terminal)
  } finally {
    interrupts.close()
    await calls.close()
    close()
  }
}

interface ToolCall {
  readonly calls: CallRunner
  readonly given: ToolArguments
  readonly terminal: Terminal
  readonly interrupts: Interrupts
  readonly signal: AbortSignal
}

/** Runs the call. In a terminal, asks its requests until it has a result. */
async function runCall({ calls, given, terminal, interrupts, signal }: ToolCall): Promise<CallOutcome> {
  const { name, args, userId, verbose } = given
  const { input, output, errors } = terminal
  const onProgress = (value: unknown): void => void errors.write(`${escapeText(JSON.stringify(value))}\n`)
  const options = { userId, signal, ...(verbose && { onProgress }) }
  let outcome = await calls.run({ name, args }, options)
  const screen = new Screen(terminal)
  if (!input.isTTY || !screen.isTerminal) return outcome
  const answers = typedLines({ input, output, prompt: '' }, interrupts)
  try {
    while (outcome.type === 'pending') {
      const prompts = openPrompts(outcome.requests, { rootName: AGENT_NAME, openBrowser, onWaiting: () => {} })
      const parts = prompts.length ? await collectAnswers(prompts, { answers, screen }) : 'end'
      if (typeof parts === 'string') return outcome
      outcome = await calls.answer(parts, { ...options, sessionId: outcome.sessionId })
    }
    return outcome
  } finally {
    answers.close()
  }
}

/** Prints the result, or what the call waits for. Returns the exit code. */
function print(outcome: CallOutcome, { name, db }: ToolArguments, { output, errors }: Terminal): number {
  if (outcome.type === 'ended') {
    errors.write(`toolwright: ${escapeText(outcome.error?.message ?? `Tool "${name}" was cancelled.`)}\n`)
    return 1
  }
  const result = outcome.type === 'pending' ? outcome.handle : outcome.result
  if (result) output.write(`${JSON.stringify(result.response, null, 2)}\n`)
  if (result?.parts.length) errors.write(`The result also has ${result.parts.length} media parts.\n`)
  if (outcome.type === 'result') return isFailure(outcome.result.response) ? 1 : 0
  const where = db === undefined ? 'Run the command in a terminal to answer.' : `Session "${outcome.sessionId}".`
  for (const request of outcome.requests)
    errors.write(`toolwright: Tool "${escapeText(name)}" waits for the ${requestSummary(request)}. ${where}\n`)
  return 1
}
