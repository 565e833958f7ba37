// https://docs.anthropic.com/en/docs/agents-and-tools/tool-use and /api/messages, and the error messages of the API.
import type { Content, Part } from '../../../core/content/content.ts'
import { shapeProblems } from './shape.ts'
import { describeCall, mergeTurns, type Turn, toTurns } from './turns.ts'

const ID = /^[a-zA-Z0-9_-]+$/
const NAME = /^[a-zA-Z0-9_-]{1,128}$/

/** Why Anthropic would reject these contents: one message for each broken rule. Empty when they can be sent. */
export function anthropicHistoryProblems(contents: readonly Content[]): string[] {
  const malformed = shapeProblems(contents)
  if (malformed.length) return malformed
  const turns = mergeTurns(toTurns(contents), () => true) // the API joins consecutive messages of one role
  const last = turns.at(-1)
  return [
    ...(turns[0]?.speaker === 'user' ? [] : ['contents[0]: the first message must have the role user']),
    ...turns.flatMap(textProblems),
    ...turns.flatMap((turn, at) => useProblems(turn, turns[at + 1])),
    ...turns.flatMap((turn, at) => resultProblems(turn, turns[at - 1])),
    ...idProblems(turns),
    ...(last?.speaker === 'model' && /\s$/.test(last.parts.at(-1)?.text ?? '')
      ? [`contents[${last.at}]: the last message ends with white space`]
      : []),
  ]
}

/** Whether a part is visible text. Thoughts are another kind of block. */
const isText = (part: Part): boolean => part.text !== undefined && !part.thought

function textProblems({ at, parts }: Turn): string[] {
  if (parts.some((part) => isText(part) && part.text === '')) return [`contents[${at}]: a text is empty`]
  const isBlank = parts.every((part) => isText(part) && part.text?.trim() === '')
  return isBlank ? [`contents[${at}]: the message has only white space`] : []
}

function useProblems({ at, calls }: Turn, next: Turn | undefined): string[] {
  return calls.flatMap((call) => {
    const found: string[] = []
    if (!NAME.test(call.name))
      found.push(`contents[${at}]: the name ${JSON.stringify(call.name)} must match ${NAME.source}`)
    if (!ID.test(call.id ?? '')) found.push(`contents[${at}]: the id of ${describeCall(call)} must match ${ID.source}`)
    const results = next?.responses.filter(({ id }) => id === call.id).length ?? 0
    if (results === 0) found.push(`contents[${at}]: no result of ${describeCall(call)} in the message after it`)
    if (results > 1) found.push(`contents[${at}]: ${results} results of ${describeCall(call)} in the message after it`)
    return found
  })
}

function resultProblems({ at, parts, responses }: Turn, before: Turn | undefined): string[] {
  const orphans = responses
    .filter(({ id }) => !before?.calls.some((call) => call.id === id))
    .map((one) => `contents[${at}]: the result of ${describeCall(one)} has no call in the message before it`)
  const isFirst = parts.slice(0, responses.length).every((part) => part.functionResponse)
  return isFirst ? orphans : [...orphans, `contents[${at}]: results must be the first parts of a message`]
}

function idProblems(turns: readonly Turn[]): string[] {
  const known = new Set<string | undefined>()
  return turns.flatMap(({ at, calls }) =>
    calls.flatMap((call) => {
      if (known.has(call.id)) return [`contents[${at}]: the id of ${describeCall(call)} is used twice`]
      known.add(call.id)
      return []
    }),
  )
}
