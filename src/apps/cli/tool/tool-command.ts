import { escapeText } from '../../../core/base/escape.ts'
import type { CallOutcome } from '../../../engine/runner/single-call/call-outcome.ts'
import type { CallRunner } from '../../../engine/runner/single-call/call-runner.ts'
import type { Command } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { openBrowser } from '../consent/open-browser.ts'
import { createInterrupts, type Interrupts } from '../input/interrupts.ts'
import { typedLines } from '../input/typed-lines.ts'
import { loadAgentFile } from '../load/agent-file.ts'
import { loadEnvFile } from '../load/env-file.ts'
import { servedAgent } from '../load/served-agent.ts'
import { collectAnswers } from '../requests/collect-answers.ts'
import { openPrompts } from '../requests/open-prompts.ts'
import { withProgress } from '../screen/progress.ts'
import { Screen } from '../screen/screen.ts'
import type { Terminal } from '../terminal.ts'
import { terminalLogger, warningLogger } from '../terminal-logger.ts'
import { AgentCalls } from './agent-calls.ts'
import { printOutcome, printTools } from './print-outcome.ts'
import { readToolArguments, type ToolArguments, toolOptions } from './tool-arguments.ts'

/** `toolwright tool`. */
export const toolCommand: Command = defineCommand({
  name: 'tool',
  summary: 'Call one tool of the agent in a file',
  usage: '<file> <name>',
  description: [
    'Calls one tool of the agent that a file exports, of its sub-agents or of their toolsets, or the agent itself, and prints the result as JSON. No model is asked, so that no key is needed. Gates and policies apply: in a terminal you are asked for approvals and inputs; otherwise the command says what is pending.',
    'A tool of an MCP server whose definition has changed is quarantined, as in `toolwright run` and `toolwright web`: the pins are in their database, .toolwright/<app>.db. `toolwright mcp trust` trusts it.',
  ],
  options: toolOptions,
  examples: [
    [`toolwright tool agent.ts get_weather --args '{"city":"Oslo"}'`, 'one call'],
    ['toolwright tool agent.ts --list', 'the tools of all agents and what they do'],
    ['toolwright tool agent.ts refund --agent billing', 'a tool that several agents have'],
    [`toolwright tool agent.ts weather --args '{"request":"Is it cold?"}'`, 'the agent "weather" itself'],
    ['toolwright tool agent.ts list_orders | jq .orders', 'the result in another program'],
  ],
  exitCodes: { 0: 'the call succeeded', 1: 'the call failed or was denied', 3: 'the call waits for an answer' },
  run: async (line, terminal) => await run(readToolArguments(line), terminal),
})

async function run(given: ToolArguments, terminal: Terminal): Promise<number> {
  loadEnvFile(terminal.folder, terminal.env)
  const logger = given.verbose ? terminalLogger(terminal) : warningLogger(terminal)
  const served = await withProgress(terminal, `Loading ${given.file}`, async () =>
    servedAgent(await loadAgentFile(given.file), { ...given, pinsFolder: terminal.folder }, logger),
  )
  const agents = new AgentCalls(served)
  const controller = new AbortController()
  const interrupts = createInterrupts(terminal.signals, { onUnhandled: () => controller.abort() })
  const { signal } = controller
  try {
    const { name, userId, agent } = given
    const options = { userId, signal }
    if (name === undefined) {
      const listed = await withProgress(terminal, 'Listing the tools', () => agents.list(options, agent))
      return printTools(listed, terminal)
    }
    const calls = await withProgress(terminal, `Finding ${name}`, () => agents.runnerFor(name, options, agent))
    const outcome = await runCall({ calls, given, name, terminal, interrupts, signal })
    return printOutcome(outcome, { ...given, name }, terminal)
  } finally {
    interrupts.close()
    await agents.close()
    served.close()
  }
}

interface ToolCall {
  readonly calls: CallRunner
  readonly given: ToolArguments
  readonly name: string
  readonly terminal: Terminal
  readonly interrupts: Interrupts
  readonly signal: AbortSignal
}

/** Runs the call. In a terminal, asks its requests until it has a result. */
async function runCall({ calls, given, name, terminal, interrupts, signal }: ToolCall): Promise<CallOutcome> {
  const { args, userId, verbose } = given
  const { input, output, errors } = terminal
  const onProgress = (value: unknown): void => void errors.write(`${escapeText(JSON.stringify(value))}\n`)
  const options = { userId, signal, ...(verbose && { onProgress }) }
  const running = `Running ${name}`
  let outcome = await withProgress(terminal, running, () => calls.run({ name, args }, options))
  const screen = new Screen(terminal)
  if (!input.isTTY || !screen.isTerminal) return outcome
  const answers = typedLines({ input, output, prompt: '' }, interrupts)
  try {
    while (outcome.type === 'pending') {
      const { sessionId } = outcome
      const prompts = openPrompts(outcome.requests, { runner: calls.runner, openBrowser, onWaiting: () => {} })
      const parts = prompts.length ? await collectAnswers(prompts, { answers, screen }) : 'end'
      if (typeof parts === 'string') return outcome
      outcome = await withProgress(terminal, running, () => calls.answer(parts, { ...options, sessionId }))
    }
    return outcome
  } finally {
    answers.close()
  }
}
