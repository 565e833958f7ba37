import { canonicalJson } from '../../../src/core/base/json.ts'
import type { Step, Timeline } from './timeline.ts'

/** A step of two timelines: in one of them, or in both. */
export interface ComparedStep {
  /** The step of the first timeline. */
  readonly one?: Step | undefined
  /** The step of the second timeline. */
  readonly other?: Step | undefined
  /** What differs besides the time. */
  readonly changes: readonly ('arguments' | 'result' | 'outcome' | 'tokens')[]
}

/** Above this number of pairs, steps are compared by their place. */
const MOST_PAIRS = 1_000_000

/** Aligns the steps of two timelines and finds what differs. */
export function compareTimelines(one: Timeline, other: Timeline): readonly ComparedStep[] {
  return align(one.steps, other.steps).map(([first, second]) => ({
    one: first,
    other: second,
    changes: first && second ? changesOf(first, second) : [],
  }))
}

type Pair = readonly [Step | undefined, Step | undefined]

/** The longest common sequence of steps with the same agent and name; the others are only in one timeline. */
function align(ones: readonly Step[], others: readonly Step[]): readonly Pair[] {
  const pairs: Pair[] = []
  if (ones.length * others.length > MOST_PAIRS) {
    for (let at = 0; at < Math.max(ones.length, others.length); at++) pairs.push([ones[at], others[at]])
    return pairs
  }
  const lengths = commonLengths(ones, others)
  const width = others.length + 1
  for (let i = 0, j = 0; i < ones.length || j < others.length; ) {
    const one = ones[i]
    const other = others[j]
    if (one && other && isSame(one, other)) {
      pairs.push([one, other])
      i++
      j++
    } else if (one && (!other || (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))) {
      pairs.push([one, undefined])
      i++
    } else {
      pairs.push([undefined, other])
      j++
    }
  }
  return pairs
}

/** For each pair of places: the length of the longest common sequence from there on. */
function commonLengths(ones: readonly Step[], others: readonly Step[]): Uint32Array {
  const width = others.length + 1
  const lengths = new Uint32Array((ones.length + 1) * width)
  for (let i = ones.length - 1; i >= 0; i--) {
    for (let j = others.length - 1; j >= 0; j--) {
      const [one, other] = [ones[i], others[j]]
      lengths[i * width + j] =
        one && other && isSame(one, other)
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0)
    }
  }
  return lengths
}

function isSame(one: Step, other: Step): boolean {
  return one.kind === other.kind && one.name === other.name && one.agent === other.agent
}

function changesOf(one: Step, other: Step): ComparedStep['changes'] {
  const changes: ComparedStep['changes'][number][] = []
  if (!isEqual(one.args, other.args)) changes.push('arguments')
  if (!isEqual(one.result, other.result)) changes.push('result')
  if (one.status !== other.status) changes.push('outcome')
  if (one.usage?.totalTokenCount !== other.usage?.totalTokenCount) changes.push('tokens')
  return changes
}

function isEqual(one: unknown, other: unknown): boolean {
  return canonicalJson(one ?? null) === canonicalJson(other ?? null)
}
