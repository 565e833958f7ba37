// Compares what was seen with what the tool declares.

import { canonicalJson } from '../../../core/base/json.ts'
import type { Effect } from '../../../engine/tool/tool.ts'
import type { BodyFact, Fact, PlayedStory, ReconcileFact, Snapshot, StopFact, WorkFact } from './facts.ts'

/** What a tool declares. */
export type ChaosClaim = 'effect' | 'reconcile' | 'cancel'

/**
 * What is not true. `has-effect`: declared as `none`. `repeats-effect`, `repeats-effect-at-once`: declared as `idempotent`.
 * `missed-effect`, `invented-effect`, `reconcile-has-effect`: of `reconcile`. `goes-on`, `repeats-cancel`: of `cancel`.
 */
export type ChaosProblem =
  | 'has-effect'
  | 'repeats-effect'
  | 'repeats-effect-at-once'
  | 'missed-effect'
  | 'invented-effect'
  | 'reconcile-has-effect'
  | 'goes-on'
  | 'repeats-cancel'

/** The declaration that a problem breaks, and the problem as a sentence. */
export const PROBLEMS: {
  readonly [problem in ChaosProblem]: { readonly claim: ChaosClaim; readonly sentence: string }
} = {
  'has-effect': { claim: 'effect', sentence: 'Its effect is declared as "none", but a call changes what is outside.' },
  'repeats-effect': {
    claim: 'effect',
    sentence: 'Its effect is declared as "idempotent", but the body takes effect again with the same idempotency key.',
  },
  'repeats-effect-at-once': {
    claim: 'effect',
    sentence:
      'Its effect is declared as "idempotent", but two bodies with the same idempotency key at the same time take effect twice.',
  },
  'missed-effect': {
    claim: 'reconcile',
    sentence: 'reconcile says "not-done", but the body has taken effect.',
  },
  'invented-effect': { claim: 'reconcile', sentence: 'reconcile says "done", but the body has not taken effect.' },
  'reconcile-has-effect': { claim: 'reconcile', sentence: 'reconcile changes what is outside.' },
  'goes-on': { claim: 'cancel', sentence: 'The work goes on after cancel.' },
  'repeats-cancel': { claim: 'cancel', sentence: 'cancel takes effect again when it is called again.' },
}

/** What is known of a tool from calls that nothing happened to. */
export interface Known {
  /** The declared effect. */
  readonly effect: Effect
  /** How much one call adds outside. Undefined if it cannot be counted. */
  readonly amount: number | undefined
  /** Does each call take effect, also after an equal one? */
  readonly addsEachTime: boolean
  /** Does each story begin with a new outside? */
  readonly isReset: boolean
}

/** What is not true in a story. Each problem is named once. */
export function judge(story: PlayedStory, known: Known): ChaosProblem[] {
  const problems = new Set<ChaosProblem>()
  const { facts } = story
  if (known.effect === 'none' && !isEqual(story.before, story.after)) problems.add('has-effect')
  if (known.effect === 'idempotent') for (const problem of judgeRepeats(story, known)) problems.add(problem)
  for (const [at, fact] of facts.entries()) {
    const problem = fact.type === 'reconcile' ? judgeReconcile(fact, facts.slice(0, at), known) : undefined
    if (problem) problems.add(problem)
  }
  for (const problem of judgeCancel(facts)) problems.add(problem)
  return [...problems]
}

/** Has alone changed what is outside. */
export function hasChanged(work: WorkFact): boolean {
  return work.hasEnded && !work.isShared && !isEqual(work.before, work.after)
}

/** Whether two snapshots are equal. */
export function isEqual(one: Snapshot, other: Snapshot): boolean {
  return canonicalJson(one) === canonicalJson(other)
}

/** How much a snapshot holds. Undefined if it cannot be counted. */
export function amountOf(snapshot: Snapshot): number | undefined {
  if (typeof snapshot === 'number') return snapshot
  return Array.isArray(snapshot) ? snapshot.length : undefined
}

/** The bodies of a call, or of all calls. */
export function bodiesIn(facts: readonly Fact[], key?: string): BodyFact[] {
  return facts.filter((fact) => fact.type === 'body').filter((body) => key === undefined || body.key === key)
}

function* judgeRepeats({ facts, before, after }: PlayedStory, { amount }: Known): Iterable<ChaosProblem> {
  const bodies = bodiesIn(facts)
  const keys = new Set(bodies.map(({ key }) => key))
  for (const key of keys) {
    if (bodies.filter((body) => body.key === key && hasChanged(body)).length > 1) yield 'repeats-effect'
  }
  const [started, ended] = [amountOf(before), amountOf(after)]
  if (amount === undefined || started === undefined || ended === undefined) return
  const isRepeatedAtOnce = [...keys].some(
    (key) => bodies.filter((body) => body.key === key && body.isShared).length > 1,
  )
  if (isRepeatedAtOnce && ended - started > amount * keys.size) yield 'repeats-effect-at-once'
}

function judgeReconcile(
  fact: ReconcileFact,
  earlier: readonly Fact[],
  { addsEachTime, isReset }: Known,
): ChaosProblem | undefined {
  if (fact.isShared) return undefined // a body is under way: nothing is certain
  if (hasChanged(fact)) return 'reconcile-has-effect'
  const bodies = bodiesIn(earlier, fact.key)
  if (bodies.some((body) => body.isShared || !body.hasEnded)) return undefined
  if (fact.said === 'not-done') return bodies.some(hasChanged) ? 'missed-effect' : undefined
  if (fact.said !== 'done') return undefined
  // what calls bring about may have been there before, as when they set a value: then "done" is true without a body
  const isNew = addsEachTime || (isReset && bodiesIn(earlier).length === bodies.length)
  const hasNoEffect = bodies.every((body) => body.hasThrown && !hasChanged(body))
  return isNew && hasNoEffect ? 'invented-effect' : undefined
}

function* judgeCancel(facts: readonly Fact[]): Iterable<ChaosProblem> {
  const stops = facts.filter((fact): fact is StopFact => fact.type === 'stop')
  for (const key of new Set(stops.map((stop) => stop.key)))
    if (stops.filter((stop) => stop.key === key && hasChanged(stop)).length > 1) yield 'repeats-cancel'
  const cancel = facts.findLast((fact) => fact.type === 'cancel')
  const finish = facts.findLast((fact) => fact.type === 'finish')
  if (!cancel || !('after' in cancel) || !finish) return
  // work whose handle was lost with its process cannot be cancelled
  const isStopped = bodiesIn(facts).every(({ key }) => stops.some((stop) => stop.key === key && stop.hasEnded))
  if (stops.length > 0 && isStopped && !isEqual(cancel.after, finish.after)) yield 'goes-on'
}
