// Writes what was seen as sentences.

import { clip } from '../../../core/base/limits.ts'
import { unreachable } from '../../../core/base/unreachable.ts'
import type { Fact, Snapshot, WorkFact } from './facts.ts'
import { type ChaosClaim, type ChaosProblem, isEqual } from './judge.ts'
import type { ChaosPoint } from './plan.ts'

/** A step of a story, as data and as a sentence. */
export interface ChaosStep {
  /**
   * `call`: the model calls the tool. `body`, `reconcile`, `stop`: the tool runs, says what has happened, stops its work. `kill`,
   * `recover`: a process dies, another one continues. `cancel`: the user cancels. `finish`: what goes on outside ends.
   */
  readonly type: Fact['type']
  /** Where the process dies, in a `kill`. */
  readonly at?: ChaosPoint | undefined
  /** What `reconcile` says. */
  readonly said?: string | undefined
  /** Whether the step alone changes what is outside. Undefined if other work was under way. */
  readonly hasEffect?: boolean | undefined
  /** The step as a sentence. */
  readonly text: string
}

/** A declaration that is not true. */
export interface ChaosFinding {
  /** The declaration. */
  readonly claim: ChaosClaim
  /** What is not true, as a code. */
  readonly problem: ChaosProblem
  /** What is not true, as a sentence. */
  readonly message: string
  /** The smallest story that shows it. */
  readonly story: readonly ChaosStep[]
}

const KILLED: { readonly [point in ChaosPoint]: string } = {
  'after-call': 'The process dies after the reply of the model is stored, before the body runs.',
  'before-body': 'The process dies just before the body runs.',
  'in-body': 'The process stalls while the body runs, and loses the session.',
  'after-body': 'The process dies after the body has ended, before its result is stored.',
  'after-result': 'The process dies after the result is stored.',
  'after-reconcile': 'The process dies after reconcile, before its answer is stored.',
  'after-cancel': 'The process dies after cancel, before the end of the call is stored.',
}

/** The steps of a story, in order. */
export function describeSteps(facts: readonly Fact[], tool: string): ChaosStep[] {
  const keys = new Set(facts.flatMap((fact) => ('key' in fact ? fact.key : [])))
  const call = (fact: WorkFact): string => (keys.size > 1 ? ` of call ${[...keys].indexOf(fact.key) + 1}` : '')
  const isAgain = (fact: WorkFact): boolean =>
    facts.slice(0, facts.indexOf(fact)).some((one) => one.type === 'body' && one.key === fact.key)
  return facts.map((fact) => {
    switch (fact.type) {
      case 'body':
        return { ...stepOf(fact), text: describeBody(fact, call(fact), isAgain(fact)) }
      case 'reconcile': {
        const said = fact.said === undefined ? 'does not say what has happened' : `says "${fact.said}"`
        return { ...stepOf(fact), said: fact.said, text: `reconcile${call(fact)} ${said}${changeOf(fact)}.` }
      }
      case 'stop':
        return { ...stepOf(fact), text: `cancel${call(fact)} is called${changeOf(fact)}.` }
      default:
        return describeEvent(fact, tool)
    }
  })
}

function describeEvent(fact: Exclude<Fact, WorkFact>, tool: string): ChaosStep {
  const { type } = fact
  switch (type) {
    case 'call':
      return { type, text: `The model calls ${tool}${fact.calls > 1 ? ' twice at once' : ''}.` }
    case 'kill':
      return { type, at: fact.at, text: KILLED[fact.at] }
    case 'recover':
      return { type, text: 'Another process continues the run.' }
    case 'cancel':
      return { type, text: 'The user cancels.' }
    case 'finish': {
      const change = describeChange(fact.before, fact.after)
      return { type, hasEffect: !isEqual(fact.before, fact.after), text: `The work outside ends: ${change}.` }
    }
    default:
      return unreachable(type)
  }
}

function stepOf(fact: WorkFact): Pick<ChaosStep, 'type' | 'hasEffect'> {
  return { type: fact.type, hasEffect: fact.isShared ? undefined : !isEqual(fact.before, fact.after) }
}

function describeBody(fact: WorkFact, ofCall: string, isAgain: boolean): string {
  const again = isAgain ? ' again, with the same idempotency key' : ''
  if (fact.isShared) return `The body${ofCall} runs${again}, at the same time as another one.`
  const thrown = fact.hasThrown ? ', and throws' : ''
  return `The body${ofCall} runs${again}${thrown}: ${describeChange(fact.before, fact.after)}.`
}

function changeOf(fact: WorkFact): string {
  return fact.isShared || isEqual(fact.before, fact.after) ? '' : `: ${describeChange(fact.before, fact.after)}`
}

/** Characters of one value. */
const MAX_SHOWN = 120

/** A change of what is outside. */
export function describeChange(before: Snapshot, after: Snapshot): string {
  if (isEqual(before, after)) return 'nothing changes outside'
  if (Array.isArray(before) && Array.isArray(after) && isEqual(after.slice(0, before.length), before))
    return after
      .slice(before.length)
      .map((entry) => `+ ${show(entry)}`)
      .join(', ')
  return `${show(before)} becomes ${show(after)}`
}

function show(value: unknown): string {
  return clip(JSON.stringify(value) ?? 'nothing', MAX_SHOWN)
}
