// https://platform.openai.com/docs/guides/function-calling. The rules are the stricter ones of chat completions and responses.
import type { Content, FunctionCall } from '../../../core/content/content.ts'
import { shapeProblems } from './shape.ts'
import { describeCall, type Turn, toTurns } from './turns.ts'

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const MAX_ID = 64

/** Why OpenAI would reject these contents: one message for each broken rule. Empty when they can be sent. */
export function openAiHistoryProblems(contents: readonly Content[]): string[] {
  const malformed = shapeProblems(contents)
  if (malformed.length) return malformed
  const known = new Set<string>()
  /** Calls of the last reply that have no response yet. */
  let open = new Map<string, FunctionCall>()
  const found: string[] = []
  const close = (turn: Turn | undefined): void => {
    for (const call of open.values())
      found.push(`${turn ? `contents[${turn.at}]` : 'the end'} comes before the response to ${describeCall(call)}`)
    open = new Map()
  }
  for (const turn of toTurns(contents)) {
    for (const response of turn.responses) {
      if (!open.delete(response.id ?? ''))
        found.push(`contents[${turn.at}]: the response ${describeCall(response)} answers no open call`)
    }
    if (turn.parts.length > turn.responses.length) close(turn)
    for (const call of turn.calls) {
      found.push(...callProblems(call, turn.at, known))
      if (call.id === undefined) continue
      known.add(call.id)
      open.set(call.id, call)
    }
  }
  close(undefined)
  return found
}

function callProblems(call: FunctionCall, at: number, known: ReadonlySet<string>): string[] {
  const found: string[] = []
  if (!NAME.test(call.name))
    found.push(`contents[${at}]: the name ${JSON.stringify(call.name)} must match ${NAME.source}`)
  if (call.id === undefined || call.id === '') found.push(`contents[${at}]: the call of ${call.name} has no id`)
  else if (call.id.length > MAX_ID) found.push(`contents[${at}]: the id ${call.id} is longer than ${MAX_ID}`)
  else if (known.has(call.id)) found.push(`contents[${at}]: the id ${call.id} is used twice`)
  return found
}
