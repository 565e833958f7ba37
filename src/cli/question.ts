// What an invocation waits for, as a person is asked it and as their line is understood.
import { isRecord, type JsonObject } from '../base/json.ts'
import type { Part } from '../content/content.ts'
import { messageOf } from '../error/error.ts'
import type { PendingRequest } from '../event/pending.ts'
import { approve, deny, respond } from '../runner/approvals/answer-parts.ts'
import { misfit, typingOf } from './input-value.ts'
import { exactly, inOneLine, visible } from './visible.ts'

export interface Question {
  readonly request: PendingRequest
  /** Whole lines, shown before the prompt: all there is to know. */
  readonly text: string
  readonly prompt: string
  /** Stands on the line from the start, to be edited. */
  readonly initial?: string
  read(line: string): Promise<Answer>
}

/** What a line says, why it says nothing, or what is asked next. */
export type Answer = { readonly part: Part } | { readonly problem: string } | { readonly next: Question }

/** The question a person can answer here; undefined when they cannot. */
export function questionOf(request: PendingRequest, rootName: string): Question | undefined {
  switch (request.kind) {
    case 'confirmation':
      return confirmation(request, rootName)
    case 'input':
      return input(request)
    case 'longRunning':
      return choice(request)
    default:
      return undefined
  }
}

/** In one line, for a list of what is open. */
export function summaryOf({ kind, tool, args, hint }: PendingRequest): string {
  switch (kind) {
    case 'confirmation':
      return `approval of ${inOneLine(tool)} ${exactly(args)}`
    case 'input':
      return `an answer: ${inOneLine(hint ?? '')}`
    case 'credential':
      return `a sign-in, for ${inOneLine(tool)}`
    default:
      return `the result of ${inOneLine(tool)} ${exactly(args)}`
  }
}

/** Only `y` and `yes` approve, only `n` and `no` deny, with a reason after it; anything else is asked again. */
function confirmation(request: PendingRequest, rootName: string, edited?: JsonObject): Question {
  const { tool, args, hint, payload, agent, editable } = request
  // after an edit the hint would speak of other arguments
  const isToldByTool = !edited && hint !== undefined && hint !== `Approve execution of tool \`${tool}\`?`
  const by = agent === rootName ? '' : `, called by ${inOneLine(agent)}`
  const text = [
    `? ${inOneLine(tool)} needs your approval${by}${edited ? ', with the edited arguments' : ''}`,
    ...(isToldByTool
      ? visible(hint)
          .split('\n')
          .map((line) => `  │ ${line}`)
      : []),
    ...Object.entries(edited ?? args).map(([name, value]) => `    ${argument(name, value)}`),
    ...(payload === undefined ? [] : [`  It comes with ${exactly(payload)}`]),
  ]
  return {
    request,
    text: `${text.join('\n')}\n`,
    prompt: editable ? 'Approve? yes / no / edit: ' : 'Approve? yes / no: ',
    async read(line) {
      const said = line.trim()
      if (/^(?:y|yes)$/i.test(said)) return { part: approve(request, edited ? { args: edited } : {}) }
      const denied = /^(?:n|no)(?:[\s,.:;-]+(.*))?$/is.exec(said)
      if (denied) return { part: deny(request, denied[1] ? { reason: denied[1] } : {}) }
      if (editable && /^(?:e|edit)$/i.test(said)) return { next: editing(request, rootName, edited ?? args) }
      return { problem: `Type yes or no${editable ? ' or edit' : ''}; a reason may follow no.` }
    },
  }
}

function argument(name: string, value: unknown): string {
  return `${exactly(name).slice(1, -1)}: ${exactly(value)}`
}

/** Other arguments for a call; they are shown again before they are approved. */
function editing(request: PendingRequest, rootName: string, args: JsonObject): Question {
  return {
    request,
    text: 'Edit the arguments, as JSON in one line; an empty line goes back.\n',
    prompt: 'Arguments: ',
    initial: exactly(args),
    async read(line) {
      if (line.trim() === '') return { next: confirmation(request, rootName) }
      try {
        const value: unknown = JSON.parse(line)
        if (!isRecord(value)) return { problem: 'Type a JSON object, e.g. {"amount": 5}.' }
        const wrong = await misfit(request.schema, value)
        if (wrong !== undefined) return { problem: `That does not fit: ${wrong}.` }
        return { next: confirmation(request, rootName, value) }
      } catch (error) {
        return { problem: `That is no JSON: ${messageOf(error)}` }
      }
    },
  }
}

function input(request: PendingRequest): Question {
  const { tool, hint = '', schema } = request
  const { how, read } = typingOf(schema)
  const shape = how === 'JSON' ? `It must fit ${exactly(schema)}\n` : ''
  return {
    request,
    text: `? ${inOneLine(tool)} asks: ${paragraph(hint)}\n${shape}`,
    prompt: `Answer (${how}): `,
    async read(line) {
      try {
        const value = read(line)
        const wrong = await misfit(schema, value)
        return wrong === undefined ? { part: respond(request, value) } : { problem: `That does not fit: ${wrong}.` }
      } catch (error) {
        return { problem: messageOf(error) }
      }
    },
  }
}

/** What `get_user_choice` offers; other work that takes long is done elsewhere. */
function choice(request: PendingRequest): Question | undefined {
  const { prompt, options } = request.args
  if (request.tool !== 'get_user_choice' || !Array.isArray(options) || options.length === 0) return undefined
  const offered = options.map(String)
  return {
    request,
    text: [
      `? ${paragraph(String(prompt))}`,
      ...offered.map((option, at) => `  ${at + 1}) ${inOneLine(option)}`),
      '',
    ].join('\n'),
    prompt: `Choose 1-${offered.length}, or type the words: `,
    async read(line) {
      const said = line.trim()
      const chosen =
        offered.find((option) => option.trim() === said) ?? (/^\d+$/.test(said) ? offered[Number(said) - 1] : undefined)
      return chosen === undefined ? { problem: 'That is none of them.' } : { part: respond(request, chosen) }
    },
  }
}

/** Further lines are indented: no text can start a line as if it were ours. */
function paragraph(text: string): string {
  return visible(text).replaceAll('\n', '\n  ')
}
