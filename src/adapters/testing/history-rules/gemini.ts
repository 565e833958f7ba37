// https://ai.google.dev/gemini-api/docs/function-calling and /thought-signatures, and the error messages of the API.
import type { Content } from '../../../core/content/content.ts'
import { shapeProblems } from './shape.ts'
import { describeCall, mergeTurns, type Turn, toTurns } from './turns.ts'

/**
 * Why Gemini would reject these contents: one message for each broken rule. Empty when they can be sent.
 *
 * @example
 * assert.deepEqual(geminiHistoryProblems(model.requests[1].contents), [])
 */
export function geminiHistoryProblems(contents: readonly Content[]): string[] {
  const malformed = shapeProblems(contents)
  if (malformed.length) return malformed
  // consecutive model turns are one: calls may only follow a user turn
  const turns = mergeTurns(toTurns(contents), ({ speaker }) => speaker === 'model')
  return [
    ...turns.flatMap(emptyTextProblems),
    ...orderProblems(turns),
    ...turns.flatMap((turn, at) => responseProblems(turn, turns[at - 1])),
    ...turns.flatMap((turn, at) => callProblems(turn, turns[at + 1])),
    ...signatureProblems(turns),
  ]
}

function emptyTextProblems({ at, parts }: Turn): string[] {
  return parts
    .filter(({ text, thoughtSignature }) => text === '' && thoughtSignature === undefined)
    .map(() => `contents[${at}]: a text is empty`)
}

function orderProblems(turns: readonly Turn[]): string[] {
  const found: string[] = []
  if (turns[0]?.speaker !== 'user') found.push('contents[0]: the first turn must have the role user')
  const last = turns.at(-1)
  if (last?.speaker === 'model')
    found.push(`contents[${last.at}]: the last turn must have the role user or contain responses`)
  return found
}

function callProblems({ at, calls }: Turn, next: Turn | undefined): string[] {
  const answers = next?.responses ?? []
  if (calls.length === 0 || isAnsweredBy(calls, answers)) return []
  if (answers.length === 0) return [`contents[${at}]: responses to ${list(calls)} must follow in the next turn`]
  return [`contents[${at}]: the calls ${list(calls)} need one response each, got responses to ${list(answers)}`]
}

function responseProblems({ at, responses }: Turn, before: Turn | undefined): string[] {
  if (responses.length === 0 || before?.calls.length) return []
  return [`contents[${at}]: responses of ${list(responses)} must follow the turn with their calls`]
}

type Named = { readonly id?: string; readonly name: string }

/** Whether each call has exactly one response. Names must be equal, ids only if both have one. */
function isAnsweredBy(calls: readonly Named[], responses: readonly Named[]): boolean {
  const open = [...responses]
  for (const { id, name } of calls) {
    const at = open.findIndex((one) => one.name === name && (one.id ?? id) === (id ?? one.id))
    if (at < 0) return false
    open.splice(at, 1)
  }
  return open.length === 0
}

/** A model that signs calls signs the first call of each step. It requires the signatures since the last user message. */
function signatureProblems(turns: readonly Turn[]): string[] {
  const lastUserTurn = turns.findLastIndex(({ speaker, responses }) => speaker === 'user' && responses.length === 0)
  const steps = turns.slice(lastUserTurn + 1).filter(({ calls }) => calls.length)
  const unsigned = steps.filter(({ parts }) => parts.find((part) => part.functionCall)?.thoughtSignature === undefined)
  const isSigned = steps.some(({ parts }) => parts.some((part) => part.functionCall && part.thoughtSignature))
  return isSigned ? unsigned.map(({ at, calls }) => `contents[${at}]: the signature of ${list(calls)} is missing`) : []
}

const list = (all: readonly Named[]): string => all.map(describeCall).join(', ')
