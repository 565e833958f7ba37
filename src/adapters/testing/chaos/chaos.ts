import { seededRandom } from '../../../core/base/seeded-random.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import { type ChaosOptions, cannotJudge, checkChaos, isCancellable } from './chaos-options.ts'
import { type ChaosFinding, describeSteps } from './describe.ts'
import {
  amountOf,
  bodiesIn,
  type ChaosClaim,
  type ChaosProblem,
  isEqual,
  judge,
  type Known,
  PROBLEMS,
} from './judge.ts'
import { type Plan, plansFor, shrink } from './plan.ts'
import { play } from './play.ts'

/** What `chaos()` has found out about a tool. */
export interface ChaosReport {
  /** The name of the tool. */
  readonly tool: string
  /** Is everything true that was checked? */
  readonly ok: boolean
  /** The declarations that were checked. */
  readonly checked: readonly ChaosClaim[]
  /** What is not true, each with the smallest story that shows it. */
  readonly findings: readonly ChaosFinding[]
  /** The seed of the stories. */
  readonly seed: number
  /** How many stories were played, without those that made a story smaller. */
  readonly stories: number
  /** All of it, to read. */
  readonly text: string
}

/** How many stories are played when the options do not say. */
const STORIES = 50

/**
 * Finds out whether the declared `effect`, `reconcile` and `cancel` of a tool are true. A scripted model calls it, processes die or stall
 * at each point of the call, others continue, and the user cancels; `outside` says what has happened. The same seed plays the same stories.
 *
 * @example
 * const { ok, text } = await chaos(pay, { seed: 7, args: { amount: 5 }, outside: () => bank.payments })
 * assert.ok(ok, text)
 */
export async function chaos(tool: Tool, options: ChaosOptions): Promise<ChaosReport> {
  checkChaos(tool, options)
  const { seed = 1, stories = STORIES } = options
  const known = await learn(tool, options)
  let played = 0
  const playPlan = async (
    plan: Plan,
  ): Promise<{ problems: ChaosProblem[]; story: ReturnType<typeof describeSteps> }> => {
    const story = await play(`${seed}-${++played}`, plan, tool, options)
    return { problems: judge(story, known), story: describeSteps(story.facts, tool.name) }
  }
  const findings = new Map<ChaosProblem, ChaosFinding>()
  const facts = { hasReconcile: known.effect === 'reconcilable', hasCancel: isCancellable(tool) }
  let left = stories
  for (const plan of plansFor(facts, seededRandom(String(seed)))) {
    if (left-- === 0) break
    const { problems } = await playPlan(plan)
    for (const problem of problems) {
      if (findings.has(problem)) continue
      const fails = async (smaller: Plan): Promise<boolean> => (await playPlan(smaller)).problems.includes(problem)
      const { story } = await playPlan(await shrink(plan, fails))
      const { claim, sentence } = PROBLEMS[problem]
      findings.set(problem, { claim, problem, message: sentence, story })
    }
  }
  const checked: ChaosClaim[] = ['effect']
  if (facts.hasReconcile) checked.push('reconcile')
  if (facts.hasCancel) checked.push('cancel')
  const found = { tool: tool.name, checked, findings: [...findings.values()], seed, stories }
  return { ...found, ok: findings.size === 0, text: textOf(tool, found) }
}

/** Calls the tool twice, with nothing happening to it. Throws if `outside` does not see its effect: then nothing could be found. */
async function learn(tool: Tool, options: ChaosOptions): Promise<Known> {
  const plan: Plan = { calls: 1, messages: 2, faults: [] }
  const { facts, before, after, errorCode } = await play(`${options.seed ?? 1}-0`, plan, tool, options)
  const { effect = 'atMostOnce' } = tool
  if (errorCode !== undefined) throw cannotJudge(tool, `a plain call failed with ${errorCode}. Pass args that succeed.`)
  const [first, second] = bodiesIn(facts)
  if (!first) throw cannotJudge(tool, 'its body did not run in a plain call.')
  if (effect !== 'none' && isEqual(before, after)) {
    const advice = 'Pass args that take effect, a new outside for each story (reset), or effect "none" to tool().'
    throw cannotJudge(tool, `outside() did not change in a plain call. ${advice}`)
  }
  const finish = facts.find((fact) => fact.type === 'finish')
  if (isCancellable(tool) && finish && isEqual(finish.before, finish.after))
    throw cannotJudge(tool, 'its work has ended before a user could cancel it. Let it end in finish.')
  const [had, has] = [amountOf(first.before), amountOf(first.after)]
  return {
    effect,
    amount: had === undefined || has === undefined ? undefined : has - had,
    addsEachTime: !isEqual(first.before, first.after) && second !== undefined && !isEqual(second.before, second.after),
    isReset: options.reset !== undefined,
  }
}

function textOf(
  { name, effect = 'atMostOnce' }: Tool,
  { checked, findings, seed, stories }: Omit<ChaosReport, 'ok' | 'text'>,
): string {
  const lines: string[] = []
  for (const claim of checked) {
    const declared = claim === 'effect' ? `effect "${effect}"` : claim
    const own = findings.filter((finding) => finding.claim === claim)
    if (own.length === 0) lines.push(`${name}: ${declared} is true in ${stories} stories of seed ${seed}.`)
    for (const { message, story } of own) {
      lines.push(`${name}: ${declared} is not true. ${message} Seed ${seed}:`)
      for (const [at, { text }] of story.entries()) lines.push(`  ${at + 1}. ${text}`)
    }
  }
  return lines.join('\n')
}
