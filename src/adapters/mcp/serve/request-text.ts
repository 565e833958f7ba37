// What the user of a client reads before an answer. Models and clients choose arguments, and hints repeat them: their text must
// not look like a line of the framework, push such a line out of sight, or hide characters.
import { escapeText, showInvisible } from '../../../core/base/escape.ts'
import { clip } from '../../../core/base/limits.ts'
import { shownJson } from '../../../core/base/shown-json.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'

/** How many characters of a hint are shown. */
const MAX_HINT = 500
/** How many characters of a question are shown. */
const MAX_QUESTION = 4_000

/** Everything the approver needs to decide: lines of the framework first, the arguments last. */
export function confirmationText({ hint = '', tool, args, payload }: PendingRequest): string {
  return [
    `Tool: ${showInvisible(tool)}`,
    `Question: ${showLine(hint, MAX_HINT)}`,
    ...(payload === undefined ? [] : [`Payload: ${shownJson(payload)}`]),
    `Arguments: ${shownJson(args)}`,
  ].join('\n')
}

/** The question of a tool. Its further lines are marked, so that they look like no line of the framework. */
export function inputText(message: string): string {
  return escapeText(clip(message, MAX_QUESTION)).replaceAll('\n', '\n│ ')
}

/** A text in one line. */
export function showLine(text: string, maxLength: number): string {
  return showInvisible(clip(text, maxLength))
}
