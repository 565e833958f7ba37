// The lines that a program writes to `toolwright run --json`.
import { isRecord } from '../../../../core/base/json.ts'
import { kindOf } from '../../../../core/base/kind-of.ts'
import type { Message, Part } from '../../../../core/content/content.ts'
import { messageOf, ToolwrightError } from '../../../../core/error/error.ts'
import type { PendingRequest } from '../../../../core/event/pending-request.ts'
import { approve, deny, respond } from '../../../../engine/runner/approvals/answer-parts.ts'

/** A line: a message, or answers to pending requests that are not looked up yet. */
type JsonInput =
  | { readonly type: 'message'; readonly message: string }
  | { readonly type: 'answers'; readonly answers: readonly unknown[] }

const FORMAT = 'Write {"message": "..."} or {"answer": {"id": "...", "confirmed": true}}, or a text that is not JSON'

/** Reads a line. Text that does not start like a JSON object is a message. Throws `INVALID_REQUEST`. */
export function readJsonInput(line: string): JsonInput {
  const text = line.trim()
  if (!text.startsWith('{')) return { type: 'message', message: text }
  const { message, answer, ...others } = parseObject(text)
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw invalid(`The line has the unknown member "${unknown}". ${FORMAT}.`)
  if (typeof message === 'string' && message.trim() !== '' && answer === undefined) return { type: 'message', message }
  if (answer !== undefined && message === undefined) return { type: 'answers', answers: [answer].flat() }
  throw invalid(`The line needs either a message or an answer. ${FORMAT}.`)
}

function parseObject(text: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return value
  } catch (error) {
    throw invalid(`The line is not valid JSON: ${messageOf(error)}. ${FORMAT}.`)
  }
  throw invalid(FORMAT)
}

/** The message that answers pending requests of a session. Throws `INVALID_REQUEST` for an answer that fits no request. */
export function toAnswerMessage(answers: readonly unknown[], pending: readonly PendingRequest[]): Message {
  const requests = new Map(pending.map((request) => [request.id, request]))
  return answers.map((answer) => toPart(answer, requests))
}

function toPart(answer: unknown, requests: ReadonlyMap<string, PendingRequest>): Part {
  if (!isRecord(answer)) throw invalid(`An answer must be an object, got ${kindOf(answer)}.`)
  const { id, confirmed, declined, response, ...options } = answer
  const request = typeof id === 'string' ? requests.get(id) : undefined
  if (!request) throw invalid(`No request with the id ${JSON.stringify(id)} is open. The line "end" lists them.`)
  const given = [confirmed, declined, response].filter((member) => member !== undefined)
  if (given.length === 1) {
    if (confirmed === true) return approve(request, options)
    if (confirmed === false || declined === true) return deny(request, options)
    if (response !== undefined && Object.keys(options).length === 0) return respond(request, response)
  }
  throw invalid(
    `The answer to "${request.id}" needs one of "confirmed": true or false, "declined": true, and a "response" without other members.`,
  )
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', message)
}
