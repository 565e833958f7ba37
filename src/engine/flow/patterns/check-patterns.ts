import { callback, name, type OptionRules, oneOf, record } from '../../../core/error/check-options.ts'
import { COUNT, DURATION } from '../../policy/check-policy.ts'
import { checkItem, checkItems, checkUnique, invalidItems } from '../state/check-items.ts'
import type { LivePattern, RatePattern, SustainedPattern, TurnsPattern } from './live-pattern.ts'

/** Every type of event that can be counted. A new type that is missing here is a compile error. */
const EVENT_TYPES: { readonly [type in RatePattern['of']]: true } = {
  audio: true,
  text: true,
  inputTranscript: true,
  outputTranscript: true,
  toolCall: true,
  toolProgress: true,
  toolResponse: true,
  toolCancelled: true,
  request: true,
  phase: true,
  transfer: true,
  activity: true,
  interrupted: true,
  turnComplete: true,
  reconnecting: true,
  resumed: true,
  lagged: true,
  error: true,
  closed: true,
}

const PATTERN_RULES: OptionRules<LivePattern> = {
  name,
  run: callback,
  sustained: record,
  rate: record,
  turns: record,
}
const SUSTAINED_RULES: OptionRules<SustainedPattern> = { when: callback, ms: DURATION }
const RATE_RULES: OptionRules<RatePattern> = { of: oneOf(...Object.keys(EVENT_TYPES)), count: COUNT, perMs: DURATION }
const TURNS_RULES: OptionRules<TurnsPattern> = { when: callback, count: COUNT }

/** Throws INVALID_CONFIG if a pattern is wrong. */
export function checkPatterns<S>(patterns: readonly LivePattern<S>[]): void {
  checkItems('patterns', patterns, PATTERN_RULES, ['name', 'run'])
  checkUnique(
    'Pattern',
    patterns.map((pattern) => pattern.name),
  )
  for (const pattern of patterns) checkKind(pattern)
}

function checkKind<S>({ name, sustained, rate, turns }: LivePattern<S>): void {
  const what = `Pattern "${name}"`
  if ([sustained, rate, turns].filter((kind) => kind !== undefined).length !== 1)
    throw invalidItems(`${what} needs exactly one of sustained, rate and turns.`)
  if (sustained) checkItem(`${what}: sustained`, sustained, SUSTAINED_RULES, ['when', 'ms'])
  if (rate) checkItem(`${what}: rate`, rate, RATE_RULES, ['of', 'count', 'perMs'])
  if (turns) checkItem(`${what}: turns`, turns, TURNS_RULES, ['when', 'count'])
}
