// Matches the patterns of JSON Schemas in time proportional to program size x text length. The native engine backtracks:
// "^(a+)+$" takes it years on 60 letters. It is used only where the pattern leaves it nothing to backtrack into.

import { spendWork, type WorkBudget } from '../work-budget.ts'
import { codePointsOf, createMachine, type Machine, runMachine, type Step } from './machine.ts'
import { parsePattern, type Tree, UnsupportedPatternError } from './parse-pattern.ts'

/** A search for a regular expression anywhere in a text, as JSON Schema has it. */
export interface Pattern {
  test(text: string, work: WorkBudget): boolean
  /** Steps of its program: counted repetitions count as often as they repeat. */
  readonly size: number
}

const MAX_STEPS = 5_000

/** A shorter text cannot overflow the native engine's own stack. */
const MAX_NATIVE_LENGTH = 100_000

/** The native engine takes long to read some longer ones. */
const MAX_NATIVE_SOURCE = 1_000

/** Makes a regular expression ready. Throws `UnsupportedPattern` for what cannot be matched in bounded time. */
export function compilePattern(source: string): Pattern {
  const tree = parsePattern(source)
  const builder: Builder = { size: 0, looks: [] }
  const program = build(tree, builder, false)
  const { looks, size } = builder
  const isAnchored = startsAnchored(tree)
  const search = searcher(createMachine(program), looks, isAnchored)
  if (looks.length > 0 || source.length > MAX_NATIVE_SOURCE || !isUnambiguous(program)) return { test: search, size }

  // Sticky: an anchored pattern is tried at the start only. Others are tried at each position, where they read no more
  // than their own length. (V8 also finds word boundaries between the halves of a character.)
  const tries = isAnchored ? 1 : size
  if (!isAnchored && (size > MAX_FLOATING_SIZE || repeatsForever(tree) || program.some(isBoundary)))
    return { test: search, size }
  const regExp = new RegExp(source, isAnchored ? 'uy' : 'u')
  return {
    size,
    test: (text, work) => {
      if (text.length > MAX_NATIVE_LENGTH) return search(text, work)
      spendWork(work, 1 + ((text.length * tries) >> 4))
      regExp.lastIndex = 0
      return regExp.test(text)
    },
  }
}

const MAX_FLOATING_SIZE = 64

function isBoundary(step: Step): boolean {
  return step.type === 'assertion' && (step.kind === 'boundary' || step.kind === 'inside')
}

function searcher(machine: Machine, looks: readonly Look[], isAnchored: boolean): Pattern['test'] {
  return (given, work) => {
    const text = codePointsOf(given, work)
    const holds: Uint8Array[] = []
    for (const { machine: look, behind } of looks) {
      spendWork(work, 1 + (text.length >> 3))
      const ends = new Uint8Array(text.length + 1)
      runMachine(look, { text, work, holds, isForward: behind, isAnchored: false, ends })
      holds.push(ends)
    }
    return runMachine(machine, { text, work, holds, isForward: true, isAnchored, ends: undefined })
  }
}

/** A lookaround: where it holds is found for every position before the pattern itself is run. */
interface Look {
  readonly machine: Machine
  readonly behind: boolean
}

interface Builder {
  size: number
  /** Inner ones come before those they are in. */
  readonly looks: Look[]
}

/** `reversed` is for lookaheads, which are run from the end of the text to its start. */
function build(tree: Tree, builder: Builder, reversed: boolean): Step[] {
  const steps: Step[] = []
  emit(tree, steps, builder, reversed)
  steps.push({ type: 'match' })
  return steps
}

function grow(builder: Builder): void {
  if (++builder.size > MAX_STEPS)
    throw new UnsupportedPatternError(
      `repeats too much (it has more than ${MAX_STEPS} steps when its counted repetitions are written out)`,
    )
}

function emit(tree: Tree, steps: Step[], builder: Builder, reversed: boolean): void {
  grow(builder)
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
      const program = build(tree.body, builder, !tree.behind)
      steps.push({ type: 'look', look: builder.looks.length, negated: tree.negated })
      builder.looks.push({ machine: createMachine(program), behind: tree.behind })
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

/** Can it match at the start of the text only? */
function startsAnchored(tree: Tree): boolean {
  if (tree.type === 'assertion') return tree.kind === 'start'
  if (tree.type === 'choice') return tree.parts.every(startsAnchored)
  return tree.type === 'sequence' && tree.parts[0] !== undefined && startsAnchored(tree.parts[0])
}

function repeatsForever(tree: Tree): boolean {
  if (tree.type === 'repeat') return tree.max === Number.POSITIVE_INFINITY || repeatsForever(tree.body)
  return (tree.type === 'sequence' || tree.type === 'choice') && tree.parts.some(repeatsForever)
}

const MAX_PATHS = 50_000

/**
 * Does the next character always decide the way? From the start, and after each character, the ways on must lead to
 * different steps that accept different characters. Then an engine that backtracks has nothing to gain: the character it
 * goes back to was accepted by one step, so every other way ends there at once. Its time is linear.
 */
function isUnambiguous(program: readonly Step[]): boolean {
  let paths = 0
  const isDecided = (from: number): boolean => {
    const taken = [0, 0, 0, 0]
    let hasBeyond = false
    const reached = new Set<number>()
    const open = [from]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (reached.has(at) || ++paths > MAX_PATHS) return false
      reached.add(at)
      const step = program[at] as Step
      if (step.type === 'fork') open.push(step.first, step.second)
      else if (step.type === 'jump') open.push(step.to)
      else if (step.type === 'assertion') open.push(at + 1)
      else if (step.type === 'character') {
        for (let i = 0; i < 4; i++) {
          const accepted = step.is.ascii[i] as number
          if (((taken[i] as number) & accepted) !== 0) return false
          ;(taken[i] as number) |= accepted
        }
        if (step.is.beyond && hasBeyond) return false
        if (step.is.beyond) hasBeyond = true
      }
    }
    return true
  }
  return isDecided(0) && program.every((step, at) => step.type !== 'character' || isDecided(at + 1))
}
