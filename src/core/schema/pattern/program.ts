// Translates a parsed pattern into a program: a list of steps, with counted repetitions written out.
import type { CharacterTest } from './character-test.ts'
import { type Assertion, type Tree, UnsupportedPatternError } from './parse-pattern.ts'

/** One step. A character that is accepted and an assertion that is true continue with the next step. */
export type Step =
  | { readonly type: 'character'; readonly is: CharacterTest }
  | { readonly type: 'assertion'; readonly kind: Assertion }
  | { readonly type: 'look'; readonly look: number; readonly negated: boolean }
  | { readonly type: 'fork'; first: number; second: number }
  | { readonly type: 'jump'; to: number }
  | { readonly type: 'match' }

/** A pattern as steps. */
export interface Program {
  /** The steps of the pattern itself. */
  readonly steps: readonly Step[]
  /** Its lookarounds. Inner lookarounds come before the outer ones. */
  readonly lookarounds: readonly Lookaround[]
  /** The number of all steps, with counted repetitions written out. */
  readonly size: number
}

/** A lookaround. The positions where it is true are found before the pattern itself runs. */
interface Lookaround {
  /** The steps of its body. Those of a lookahead are reversed: they run from the end of the text to its start. */
  readonly steps: readonly Step[]
  /** Is it a lookbehind? */
  readonly behind: boolean
}

const MAX_STEPS = 5_000

/** Translates a parsed pattern. Throws `UnsupportedPatternError` if the program is too large. */
export function buildProgram(tree: Tree): Program {
  const builder: Builder = { size: 0, lookarounds: [] }
  const steps = build(tree, builder, false)
  return { steps, lookarounds: builder.lookarounds, size: builder.size }
}

interface Builder {
  size: number
  readonly lookarounds: Lookaround[]
}

function build(tree: Tree, builder: Builder, reversed: boolean): Step[] {
  const steps: Step[] = []
  emit(tree, steps, builder, reversed)
  steps.push({ type: 'match' })
  return steps
}

function countStep(builder: Builder): void {
  if (++builder.size > MAX_STEPS)
    throw new UnsupportedPatternError(
      `repeats too much (it has more than ${MAX_STEPS} steps when its counted repetitions are written out)`,
    )
}

function emit(tree: Tree, steps: Step[], builder: Builder, reversed: boolean): void {
  countStep(builder)
  switch (tree.type) {
    case 'character':
    case 'assertion':
      steps.push(tree)
      return
    case 'sequence':
      for (const part of reversed ? tree.parts.toReversed() : tree.parts) emit(part, steps, builder, reversed)
      return
    case 'choice': {
      const jumps: { type: 'jump'; to: number }[] = []
      for (const [i, part] of tree.parts.entries()) {
        const fork = { type: 'fork' as const, first: steps.length + 1, second: 0 }
        const isLast = i === tree.parts.length - 1
        if (!isLast) steps.push(fork)
        emit(part, steps, builder, reversed)
        if (isLast) break
        const jump = { type: 'jump' as const, to: 0 }
        jumps.push(jump)
        steps.push(jump)
        fork.second = steps.length
      }
      for (const jump of jumps) jump.to = steps.length
      return
    }
    case 'repeat':
      emitRepeat(tree, steps, builder, reversed)
      return
    case 'look': {
      const body = build(tree.body, builder, !tree.behind)
      steps.push({ type: 'look', look: builder.lookarounds.length, negated: tree.negated })
      builder.lookarounds.push({ steps: body, behind: tree.behind })
    }
  }
}

function emitRepeat(
  { body, min, max }: Tree & { type: 'repeat' },
  steps: Step[],
  builder: Builder,
  reversed: boolean,
): void {
  for (let i = 0; i < min; i++) emit(body, steps, builder, reversed)
  if (max === Number.POSITIVE_INFINITY) {
    const start = steps.length
    const fork = { type: 'fork' as const, first: start + 1, second: 0 }
    steps.push(fork)
    emit(body, steps, builder, reversed)
    steps.push({ type: 'jump', to: start })
    fork.second = steps.length
    return
  }
  const forks: { type: 'fork'; first: number; second: number }[] = []
  for (let i = min; i < max; i++) {
    const fork = { type: 'fork' as const, first: steps.length + 1, second: 0 }
    forks.push(fork)
    steps.push(fork)
    emit(body, steps, builder, reversed)
  }
  for (const fork of forks) fork.second = steps.length
}
