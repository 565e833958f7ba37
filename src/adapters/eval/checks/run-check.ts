// Runs one check. A check that cannot be run is not evaluated, and never passes.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { CallView } from '../../../core/event/views/views.ts'
import { checkCalls, checkNever } from './call-checks.ts'
import type { CaseOutcome, Check, CheckResult, ExpectedRequest, Limits, Verdict } from './check.ts'
import { describeExpected, describeValue, type Expected, matches } from './matches.ts'
import { rouge1 } from './rouge.ts'

/** How similar an answer must be to the reference answer of a turn. ADK's threshold. */
export const MIN_SIMILARITY = 0.8

/** Runs a check. `turn`: the number of the turn whose outcome it gets. */
export async function runCheck(check: Check, outcome: CaseOutcome, turn?: number): Promise<CheckResult> {
  const name = turn === undefined ? nameOf(check) : `turn ${turn}: ${nameOf(check)}`
  try {
    return { name, ...(await verdictOf(check, outcome)) }
  } catch (error) {
    return { name, status: 'NOT_EVALUATED', detail: messageOf(error) }
  }
}

function nameOf(check: Check): string {
  return 'check' in check ? check.name : (Object.keys(check).find((key) => key !== 'match' && key !== 'min') ?? '')
}

async function verdictOf(check: Check, outcome: CaseOutcome): Promise<Verdict> {
  if ('calls' in check) return checkCalls(check, outcome.calls)
  if ('never' in check) return checkNever(check.never, outcome.calls)
  if ('contains' in check) return contains([check.contains].flat(), outcome.reply)
  if ('pattern' in check) return pattern(check.pattern, outcome.reply)
  if ('similar' in check) return similar(check.similar, outcome.reply, check.min ?? MIN_SIMILARITY)
  if ('json' in check) return json(check.json, outcome.reply)
  if ('state' in check) return fits('state', outcome.state, check.state, true)
  if ('artifacts' in check) return artifacts(check.artifacts, outcome)
  if ('requests' in check) return requests(check.requests, outcome.calls)
  if ('limits' in check) return limits(check.limits, outcome)
  const verdict = await check.check(outcome)
  if (isRecord(verdict) && ['PASSED', 'FAILED', 'NOT_EVALUATED'].includes(String(verdict.status))) return verdict
  return { status: 'NOT_EVALUATED', detail: 'The check returned no { status }.' }
}

const verdict = (isTrue: boolean, detail: string): Verdict =>
  isTrue ? { status: 'PASSED' } : { status: 'FAILED', detail }

function contains(texts: readonly string[], reply: string): Verdict {
  const missing = texts.filter((text) => !reply.toLowerCase().includes(text.toLowerCase()))
  return verdict(missing.length === 0, `${missing.map(quote).join(', ')} not in ${quote(reply)}`)
}

function pattern(expected: string | RegExp, reply: string): Verdict {
  const expression = typeof expected === 'string' ? new RegExp(expected) : expected
  return verdict(matches(reply, expression), `${expression} does not match ${quote(reply)}`)
}

function similar(reference: string, reply: string, min: number): Verdict {
  const score = rouge1(reply, reference)
  const detail = `ROUGE-1 ${score.toFixed(2)} is below ${min}: ${quote(reply)} instead of ${quote(reference)}`
  return { ...verdict(score >= min, detail), score }
}

function json(expected: Expected, reply: string): Verdict {
  let value: unknown
  try {
    value = JSON.parse(reply)
  } catch {
    return { status: 'FAILED', detail: `The answer is no JSON: ${quote(reply)}` }
  }
  return fits('answer', value, expected, true)
}

function fits(what: string, value: unknown, expected: Expected, partial: boolean): Verdict {
  const detail = `${what}: expected ${describeExpected(expected)}, got ${describeValue(value)}`
  return verdict(matches(value, expected, { partial }), detail)
}

function artifacts(expected: Extract<Check, { artifacts: unknown }>['artifacts'], outcome: CaseOutcome): Verdict {
  const names = Array.isArray(expected) ? (expected as readonly string[]) : Object.keys(expected)
  const missing = names.filter((name) => !outcome.artifacts.has(name))
  if (missing.length > 0) return { status: 'FAILED', detail: `missing artifacts: ${missing.join(', ')}` }
  if (Array.isArray(expected)) return { status: 'PASSED' }
  for (const [name, wanted] of Object.entries(expected)) {
    const part = outcome.artifacts.get(name)
    const found = fits(`artifact "${name}"`, part?.text ?? part, wanted, true)
    if (found.status === 'FAILED') return found
  }
  return { status: 'PASSED' }
}

function requests(expected: readonly ExpectedRequest[], calls: readonly CallView[]): Verdict {
  const asked = calls.flatMap((call) => call.requests.map((request) => ({ call, request })))
  const isSame = asked.length === expected.length && expected.every((one, at) => isExpected(one, asked[at]))
  const found = asked.map(({ call, request }) => `${request.kind} of ${call.name}`).join(', ') || 'no requests'
  return verdict(isSame, `expected ${describeExpected(expected)}, got ${found}`)
}

function isExpected(
  { tool, kind, args, answer }: ExpectedRequest,
  asked: { readonly call: CallView; readonly request: CallView['requests'][number] } | undefined,
): boolean {
  if (asked?.call.name !== tool || (kind !== undefined && asked.request.kind !== kind)) return false
  if (answer !== undefined && asked.request.answer?.type !== answer) return false
  return args === undefined || matches(asked.request.args, args)
}

function limits(given: Limits, outcome: CaseOutcome): Verdict {
  const replies = outcome.invocations.flatMap(({ replies }) => replies.filter(({ isModel }) => isModel))
  const usages = replies.flatMap(({ agent, usage, error }) => (usage || !error ? [{ agent, usage }] : []))
  const isCounted = usages.every(({ usage }) => usage !== undefined)
  if (!isCounted && (given.tokens !== undefined || given.cost !== undefined))
    return { status: 'NOT_EVALUATED', detail: 'A model reported no tokens.' }
  const { input, output } = outcome.tokens
  const cost = (): number =>
    usages.reduce((sum, { agent, usage }) => sum + (given.price?.({ agent, usage: usage as JsonObject }) ?? 0), 0)
  const used: readonly (readonly [keyof Limits, number])[] = [
    ['calls', outcome.calls.length],
    ['modelCalls', replies.length],
    ['tokens', input + output],
    ['timeMs', Math.round(outcome.timeMs)],
    ['cost', given.cost === undefined ? 0 : cost()],
  ]
  const over = used.filter(([name, value]) => {
    const most = given[name]
    return typeof most === 'number' && !(value <= most) // a price that is no number is over every limit
  })
  return verdict(
    over.length === 0,
    over.map(([name, value]) => `${name}: ${value} of at most ${given[name]}`).join(', '),
  )
}

function quote(text: string): string {
  return JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}...` : text)
}
