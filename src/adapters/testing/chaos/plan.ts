// What happens to a call in one story, and how a failing story is made smaller.

/**
 * Where a process dies. `in-body` is a process that stalls while the body runs: another one takes over, and the body goes on.
 * `after-call`: the reply of the model is stored. `before-body`: what the call may do is stored. The others: before the next is stored.
 */
export type ChaosPoint =
  | 'after-call'
  | 'before-body'
  | 'in-body'
  | 'after-body'
  | 'after-result'
  | 'after-reconcile'
  | 'after-cancel'

/** What happens to one process. `cancel`: the user cancels, while the body runs or while its long-running work goes on. */
export type Fault = { readonly type: 'kill'; readonly at: ChaosPoint } | { readonly type: 'cancel' }

/** A story before it is played. Each fault is that of one process; the next process recovers, and the last one has no fault. */
export interface Plan {
  /** The calls of the model's reply. */
  readonly calls: 1 | 2
  /** The messages of the user. Each has these calls. */
  readonly messages: 1 | 2
  /** One for each process but the last. */
  readonly faults: readonly Fault[]
}

/** What plans depend on. */
export interface PlanOptions {
  /** Whether the tool has `reconcile`. */
  readonly hasReconcile: boolean
  /** Whether the tool has long-running work that can be cancelled. */
  readonly hasCancel: boolean
}

/** The most faults of one story. */
const MAX_FAULTS = 4

/** Every story with at most one fault, then others as the random numbers choose. Never ends. */
export function* plansFor(options: PlanOptions, random: () => number): Generator<Plan> {
  const faults = faultsFor(options)
  for (const calls of [1, 2] as const) {
    yield { calls, messages: 1, faults: [] }
    for (const fault of faults) yield { calls, messages: 1, faults: [fault] }
  }
  // what must be repeatable is repeated
  if (options.hasCancel)
    yield { calls: 1, messages: 1, faults: [{ type: 'kill', at: 'after-cancel' }, { type: 'cancel' }] }
  for (;;) {
    const count = 2 + Math.floor(random() * (MAX_FAULTS - 1))
    const chosen = Array.from({ length: count }, () => faults[Math.floor(random() * faults.length)] as Fault)
    yield { calls: random() < 0.5 ? 1 : 2, messages: 1, faults: chosen }
  }
}

function faultsFor({ hasReconcile, hasCancel }: PlanOptions): readonly Fault[] {
  const points: ChaosPoint[] = ['after-call', 'before-body', 'after-body', 'after-result']
  if (hasReconcile) points.push('after-reconcile')
  if (hasCancel) points.push('after-cancel')
  points.push('in-body') // last: a story in which a process only dies is simpler
  return [...points.map((at): Fault => ({ type: 'kill', at })), { type: 'cancel' }]
}

/** The smallest plan that still fails: with one thing less, it does not. */
export async function shrink(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  for (const smaller of smallerPlans(plan)) if (await fails(smaller)) return await shrink(smaller, fails)
  return plan
}

/** Plans with one thing less. A process that dies is simpler than one that stalls. */
function smallerPlans(plan: Plan): Plan[] {
  const { calls, faults } = plan
  const withOneCall: Plan[] = calls === 2 ? [{ ...plan, calls: 1 }] : []
  const withoutOne = faults.map((_, at): Plan => ({ ...plan, faults: faults.toSpliced(at, 1) }))
  const withoutStall = faults.flatMap((fault, at): Plan[] => {
    if (fault.type !== 'kill' || fault.at !== 'in-body') return []
    return [{ ...plan, faults: faults.with(at, { type: 'kill', at: 'after-body' }) }]
  })
  return [...withOneCall, ...withoutOne, ...withoutStall]
}
