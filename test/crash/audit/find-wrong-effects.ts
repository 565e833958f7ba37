import { effects } from '../tool-names.ts'
import { callsOf, countLines, type Evidence, type LoggedCall } from './evidence.ts'

/** Calls without their one response, and effects that their class does not allow or that the log does not tell. */
export function findWrongEffects(evidence: Evidence): string[] {
  const calls = callsOf(evidence)
  const known = new Set(calls.map(({ key }) => key))
  const unlogged = evidence.lines.flatMap((line) =>
    'key' in line && !known.has(line.key) ? [`${line.type} of ${line.tool}: its call is not in the log.`] : [],
  )
  return [...unlogged, ...calls.flatMap((call) => findProblems(call, evidence))]
}

function findProblems({ key, call, isLive, responses, intentSeq }: LoggedCall, evidence: Evidence): string[] {
  const [response, ...others] = responses
  if (!response || others.length > 0) return [`${call.name} has ${responses.length} responses.`]
  const effect = effects[call.name]
  if (effect === undefined) return [] // an agent tool: its effects are those of its agent
  const count = countLines(evidence, 'effect', key)
  const problems: string[] = []
  const mayRepeat = effect === 'none' || effect === 'idempotent'
  if (!mayRepeat && count > 1) problems.push(`${call.name} (${effect}) took effect ${count} times.`)
  if (effect === 'atMostOnce' && countLines(evidence, 'body', key) > 1) problems.push(`${call.name} ran twice.`)
  if (effect !== 'none' && count > 0 && intentSeq === undefined) problems.push(`${call.name} ran without an intent.`)
  switch (outcomeOf(response.response)) {
    case 'paid':
      if (count === 0) problems.push(`${call.name} has the result of an effect, and took none.`)
      break
    case 'unknown':
      if (effect !== 'atMostOnce') problems.push(`${call.name} (${effect}) has an unknown outcome.`)
      break
    case 'not started':
      if (count > 0 || !isLive) problems.push(`${call.name} was cancelled and took effect ${count} times.`)
      break
    case 'other':
      problems.push(`${call.name} was answered with ${JSON.stringify(response.response)}.`)
  }
  return problems
}

/** What a response says about the effect. */
export type Outcome = 'paid' | 'unknown' | 'not started' | 'other'

/** Reads a response. The result of a background call is inside its response. */
export function outcomeOf(response: { readonly [key: string]: unknown }): Outcome {
  if (response.paid === true || (response.result as { paid?: unknown } | undefined)?.paid === true) return 'paid'
  if (response.errorCode === 'UNKNOWN_OUTCOME') return 'unknown'
  return response.errorCode === 'CANCELLED' ? 'not started' : 'other'
}
