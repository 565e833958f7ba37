// What an invocation waits for, as a person is asked it and as their line is understood.
import type { Part } from '../content/content.ts'
import { messageOf } from '../error/error.ts'
import type { PendingRequest } from '../event/pending.ts'
import { approve, deny, respond } from '../runner/answer-parts.ts'
import { misfit, typingOf } from './input-value.ts'
import { exactly, inOneLine, visible } from './visible.ts'

export interface Question {
  readonly request: PendingRequest
  /** Whole lines, shown before the prompt: all there is to know. */
  readonly text: string
  readonly prompt: string
  read(line: string): Promise<Answer>
}

/** What a line says, or why it says nothing. */
export type Answer = { readonly part: Part } | { readonly problem: string }

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

/** Only `y` and `yes` approve; whatever else is said is why not. */
function confirmation(request: PendingRequest, rootName: string): Question {
  const { tool, args, hint, payload, agent } = request
  const told = hint === undefined || hint === `Approve execution of tool \`${tool}\`?` ? '' : `${paragraph(hint)}\n`
  const given = payload === undefined ? '' : `It comes with ${exactly(payload)}\n`
  const by = agent === rootName ? '' : `, called by ${inOneLine(agent)}`
  return {
    request,
    text: `${told}${given}Approve ${inOneLine(tool)} ${exactly(args)}${by}?\n`,
    prompt: '[y/N, or why not] ',
    async read(line) {
      const said = line.trim()
      if (/^(y|yes)$/i.test(said)) return { part: approve(request) }
      return { part: deny(request, said === '' || /^(n|no)$/i.test(said) ? {} : { reason: said }) }
    },
  }
}

function input(request: PendingRequest): Question {
  const { tool, hint = '', schema } = request
  const { how, read } = typingOf(schema)
  const shape = how === 'JSON' ? `It must fit ${exactly(schema)}\n` : ''
  return {
    request,
    text: `${inOneLine(tool)} asks: ${paragraph(hint)}\n${shape}`,
    prompt: `[${how}] `,
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
    text: [paragraph(String(prompt)), ...offered.map((option, at) => `  ${at + 1}) ${inOneLine(option)}`), ''].join(
      '\n',
    ),
    prompt: `[1-${offered.length}, or the words] `,
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
