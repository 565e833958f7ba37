// What `toolwright tool` prints, and the exit code.

import { escapeLine, escapeText } from '../../../core/base/escape.ts'
import { isFailure } from '../../../core/event/invocation-state.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { CallOutcome } from '../../../engine/runner/single-call/call-outcome.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import { MEMORY } from '../load/app-database.ts'
import { requestSummary } from '../requests/request-prompt.ts'
import { Screen } from '../screen/screen.ts'
import { truncate } from '../screen/text-width.ts'
import type { Terminal } from '../terminal.ts'
import type { AgentTools } from './agent-calls.ts'

/** The call, for messages about it. */
interface PrintedCall {
  readonly file: string
  readonly name: string
  readonly db: string | undefined
}

/** Exit code of a call that waits for an answer. */
const PENDING = 3

/** Prints the result, or what the call waits for. Returns the exit code. */
export function printOutcome(outcome: CallOutcome, call: PrintedCall, { output, errors }: Terminal): number {
  const { file, name, db } = call
  if (outcome.type === 'ended') {
    errors.write(`toolwright: ${escapeText(outcome.error?.message ?? `Tool "${name}" was cancelled.`)}\n`)
    return 1
  }
  const result = outcome.type === 'pending' ? outcome.handle : outcome.result
  if (result) output.write(`${JSON.stringify(result.response, null, 2)}\n`)
  if (result?.parts.length) errors.write(`The result also has ${result.parts.length} media parts.\n`)
  if (outcome.type === 'result') {
    const { error } = outcome.result.response
    if (typeof error === 'string' && error.startsWith('Unknown tool'))
      errors.write(`toolwright: ${escapeText(error)} List the tools: toolwright tool ${escapeText(file)} --list\n`)
    return isFailure(outcome.result.response) ? 1 : 0
  }
  for (const request of outcome.requests) {
    const where = db === undefined || db === MEMORY ? adviceFor(request) : `Session "${outcome.sessionId}".`
    errors.write(`toolwright: Tool "${escapeText(name)}" waits for the ${requestSummary(request)}. ${where}\n`)
  }
  return PENDING
}

/** What to do about a request of a call that is not stored. */
function adviceFor({ kind, tool }: PendingRequest): string {
  if (kind !== 'longRunning' || tool === 'get_user_choice') return 'Run the command in a terminal to answer.'
  return 'The call is not stored, so its result cannot be sent. Call the tool in a chat (toolwright run or web) to send it.'
}

/** Prints the tools that can be called, one per line, below their agents if there are several. */
export function printTools(agents: readonly AgentTools[], terminal: Terminal): number {
  const { paint } = new Screen(terminal)
  for (const [at, { agent, tools }] of agents.entries()) {
    if (at > 0) terminal.output.write('\n')
    if (agents.length > 1) terminal.output.write(`${paint(['dim'], `agent ${escapeLine(agent)}`)}\n`)
    printTable(tools, terminal)
  }
  return 0
}

/** A terminal shows the start of long descriptions. */
function printTable(tools: readonly Tool[], terminal: Terminal): void {
  const { width, paint } = new Screen(terminal)
  const column = Math.max(0, ...tools.map(({ name }) => name.length)) + 2
  for (const tool of tools) {
    const gate =
      tool.requiresConfirmation === undefined || tool.requiresConfirmation === false ? '' : ' (needs approval)'
    const text = escapeLine(tool.description) + gate
    const shown = width === undefined ? text : truncate(text, Math.max(width - column, 20))
    terminal.output.write(`${paint(['bold'], escapeLine(tool.name))}${' '.repeat(column - tool.name.length)}${shown}\n`)
  }
}
