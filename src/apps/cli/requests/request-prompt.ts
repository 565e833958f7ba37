// Pending requests as prompts: the text a user sees, and how the typed line becomes an answer.

import { escapeJson, escapeLine, escapeText } from '../../../core/base/escape.ts'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { approve, deny, respond } from '../../../engine/runner/approvals/answer-parts.ts'
import { describeMismatch, inputFormat } from './input-format.ts'

/** A pending request as it is asked in the terminal. */
export interface RequestPrompt {
  /** The request that the line answers. */
  readonly request: PendingRequest
  /** Everything the user needs to decide, in whole lines. Shown before the label. */
  readonly text: string
  /** Shown in front of the typed line. */
  readonly label: string
  /** Text that is on the line from the start, for editing. */
  readonly initial?: string
  /** A link on a line of its own. It is not wrapped, so that it can be copied. */
  readonly link?: string
  /** The answer that Ctrl+C gives. Default: Ctrl+C cancels the run. */
  readonly interrupted?: readonly Part[]
  /** Opens another source of the answer. It is closed when the request is answered. */
  open?(): Promise<OtherAnswer>
  /** Reads the typed line. */
  read(line: string): Promise<LineReading>
}

/** An answer that is not typed, such as the callback of a browser. */
export interface OtherAnswer {
  /** Shown before the label. */
  readonly notice: string
  /** The answer. Never settles if none arrives. */
  readonly parts: Promise<readonly Part[]>
  /** Stops waiting. */
  close(): Promise<void>
}

/** A typed line as read: an answer, a problem to show before asking again, or a follow-up prompt. */
type LineReading = { readonly parts: readonly Part[] } | { readonly problem: string } | { readonly next: RequestPrompt }

/** What the prompts of a runner need. */
export interface PromptSource {
  /** The root agent; its calls are shown without a name. */
  readonly rootName: string
  /** Asks for the question about edited arguments. Throws if they are not accepted. */
  preview(request: PendingRequest, args: JsonObject): Promise<{ readonly hint: string }>
}

/** Creates the prompt for a request; undefined when a user cannot answer it in a terminal. */
export function requestPrompt(request: PendingRequest, source: PromptSource): RequestPrompt | undefined {
  switch (request.kind) {
    case 'confirmation':
      return confirmationPrompt(request, source)
    case 'input':
      return inputPrompt(request)
    case 'longRunning':
      return choicePrompt(request)
    default:
      return undefined
  }
}

/** Describes a request in one line, for the list of open requests. */
export function requestSummary({ id, kind, tool, args, hint, handle }: PendingRequest): string {
  switch (kind) {
    case 'confirmation':
      return `approval of ${escapeLine(tool)} ${escapeJson(args)}`
    case 'input':
      return `answer to ${escapeLine(tool)}: ${escapeLine(hint ?? '')}`
    case 'credential':
      return `sign-in for ${escapeLine(tool)}`
    default:
      return `result of ${escapeLine(tool)} ${escapeJson(args)}${handle ? `, handle ${escapeJson(handle)}` : ''}, id ${escapeLine(id)}`
  }
}

/** Edited arguments, and the question about them. */
interface Edit {
  readonly args: JsonObject
  readonly hint: string
}

/** Only `y` and `yes` approve; only `n` and `no` deny, optionally with a reason. Any other line is asked again. */
function confirmationPrompt(request: PendingRequest, source: PromptSource, edit?: Edit): RequestPrompt {
  const { tool, args, payload, agent, editable } = request
  const { args: edited, hint } = edit ?? { hint: request.hint }
  const by = agent === source.rootName ? '' : `, called by ${escapeLine(agent)}`
  const text = [
    `? ${escapeLine(tool)} needs your approval${by}${edited ? ', with the edited arguments' : ''}`,
    ...(edit ? [...linesBefore(request, edit), '  Now:'] : []), // last, so that it is on the screen
    ...questionLines({ tool, ...(hint !== undefined && { hint }) }),
    ...argumentLines(edited ?? args),
    ...(payload === undefined ? [] : [`  Payload: ${escapeJson(payload)}`]),
  ]
  return {
    request,
    text: `${text.join('\n')}\n`,
    label: editable ? 'Approve? yes / no / edit: ' : 'Approve? yes / no: ',
    async read(line) {
      const word = line.trim()
      if (/^(?:y|yes)$/i.test(word)) return { parts: [approve(request, edited ? { args: edited } : {})] }
      const denied = /^(?:n|no)(?:[\s,.:;-]+(.*))?$/is.exec(word)
      if (denied) return { parts: [deny(request, denied[1] ? { reason: denied[1] } : {})] }
      if (editable && /^(?:e|edit)$/i.test(word)) return { next: editPrompt(request, source, edited ?? args) }
      return { problem: `Type yes or no${editable ? ' or edit' : ''}. You can add a reason after no.` }
    },
  }
}

/** The question of the tool, apart from the lines of the command. The default question says nothing more. */
function questionLines({
  tool,
  hint,
}: Pick<PendingRequest, 'tool'> & { readonly hint?: string | undefined }): string[] {
  if (hint === undefined || hint === `Approve execution of tool \`${tool}\`?`) return []
  return escapeText(hint)
    .split('\n')
    .map((line) => `  │ ${line}`)
}

/** The question and the arguments that an edit has changed or removed, as they were. */
function linesBefore(request: PendingRequest, edit: Edit): string[] {
  const isReplaced = ([name, value]: [string, unknown]): boolean =>
    !Object.hasOwn(edit.args, name) || JSON.stringify(edit.args[name]) !== JSON.stringify(value)
  const replaced = Object.fromEntries(Object.entries(request.args).filter(isReplaced))
  const question = request.hint === edit.hint ? [] : questionLines(request)
  return ['  Before the edit:', ...question, ...argumentLines(replaced)]
}

/** Longer lines come first: the last lines are on the screen, and a long value must not move an amount out of it. */
const LONG_LINE = 1_000

function argumentLines(args: JsonObject): string[] {
  const lines = Object.entries(args).map(
    ([name, value]) => `    ${escapeJson(name).slice(1, -1)}: ${escapeJson(value)}`,
  )
  const isLong = (line: string): boolean => line.length > LONG_LINE
  return [...lines.filter(isLong), ...lines.filter((line) => !isLong(line))]
}

/** Edits the arguments of a call. The edited arguments are shown again for approval. */
function editPrompt(request: PendingRequest, source: PromptSource, args: JsonObject): RequestPrompt {
  return {
    request,
    text: 'Edit the arguments as JSON in one line. An empty line cancels the edit.\n',
    label: 'Arguments: ',
    initial: escapeJson(args),
    async read(line) {
      if (line.trim() === '') return { next: confirmationPrompt(request, source) }
      let value: unknown
      try {
        value = JSON.parse(line)
      } catch (error) {
        return { problem: `Invalid JSON: ${messageOf(error)}` }
      }
      if (!isRecord(value)) return { problem: 'Type a JSON object, e.g. {"amount": 5}.' }
      try {
        const mismatch = await describeMismatch(request.schema, value)
        if (mismatch !== undefined) return { problem: `Invalid arguments: ${mismatch}.` }
        const { hint } = await source.preview(request, value)
        return { next: confirmationPrompt(request, source, { args: value, hint }) }
      } catch (error) {
        return { problem: messageOf(error) }
      }
    },
  }
}

function inputPrompt(request: PendingRequest): RequestPrompt {
  const { tool, hint = '', schema } = request
  const { label, parse } = inputFormat(schema)
  const shape = label === 'JSON' ? `The answer must match ${escapeJson(schema)}\n` : ''
  return {
    request,
    text: `? ${escapeLine(tool)} asks: ${indentFurtherLines(hint)}\n${shape}`,
    label: `Answer (${label}): `,
    async read(line) {
      try {
        const value = parse(line)
        const mismatch = await describeMismatch(schema, value)
        return mismatch === undefined
          ? { parts: [respond(request, value)] }
          : { problem: `Invalid answer: ${mismatch}.` }
      } catch (error) {
        return { problem: messageOf(error) }
      }
    },
  }
}

/** The options of `get_user_choice`. Other long-running calls get their result elsewhere. */
function choicePrompt(request: PendingRequest): RequestPrompt | undefined {
  const { prompt, options } = request.args
  if (request.tool !== 'get_user_choice' || !Array.isArray(options) || options.length === 0) return undefined
  const labels = options.map(String)
  return {
    request,
    text: [
      `? ${indentFurtherLines(String(prompt))}`,
      ...labels.map((option, at) => `  ${at + 1}) ${escapeLine(option)}`),
      '',
    ].join('\n'),
    label: `Choose 1-${labels.length}, or type the option: `,
    async read(line) {
      const typed = line.trim()
      const chosen =
        labels.find((option) => option.trim() === typed) ??
        (/^\d+$/.test(typed) ? labels[Number(typed) - 1] : undefined)
      return chosen === undefined
        ? { problem: 'That is not one of the options.' }
        : { parts: [respond(request, chosen)] }
    },
  }
}

/** Indents all lines but the first, so that tool text cannot look like a prompt of the command line. */
function indentFurtherLines(text: string): string {
  return escapeText(text).replaceAll('\n', '\n  ')
}
