// Runs the program of a pattern on a text. All paths through the program are followed at once, so each step is visited at
// most once per position, whatever the text.
import { spendWork, type WorkBudget } from '../work-budget.ts'
import { acceptsCharacter, type CharacterTest } from './character-test.ts'
import type { Step } from './program.ts'

/** A program as numbers, which run faster, with the memory of one run. Runs never overlap. */
interface Machine {
  /** By step: its code in `CODES`. */
  readonly does: Uint8Array
  /** By step: the step that follows. */
  readonly next: Int32Array
  /** By step: the second branch of a fork, or the number of a lookaround. */
  readonly other: Int32Array
  /** By step: the test of a character. */
  readonly tests: readonly (CharacterTest | undefined)[]
  /** By step: the last round in which it was visited. */
  readonly visited: Int32Array
  /** Counts positions over all runs. */
  round: number
  /** Steps to start from at this position. */
  waiting: Int32Array
  /** Steps to start from at the next position. */
  following: Int32Array
  /** Steps still to visit at this position. */
  readonly open: Int32Array
}

const CODES = { character: 0, fork: 1, match: 2, start: 3, end: 4, boundary: 5, inside: 6, look: 7, noLook: 8 } as const
const MAX_ROUND = 2 ** 31 - 1

/** Translates steps into numbers. */
export function createMachine(program: readonly Step[]): Machine {
  const { length } = program
  const landing = (at: number): number => {
    const step = program[at]
    return step?.type === 'jump' ? landing(step.to) : at
  }
  const does = new Uint8Array(length)
  const next = new Int32Array(length)
  const other = new Int32Array(length)
  for (const [at, step] of program.entries()) {
    if (step.type === 'jump') continue // `landing` skips jumps
    does[at] =
      CODES[step.type === 'assertion' ? step.kind : step.type === 'look' && step.negated ? 'noLook' : step.type]
    next[at] = landing(step.type === 'fork' ? step.first : at + 1)
    other[at] = step.type === 'fork' ? landing(step.second) : step.type === 'look' ? step.look : 0
  }
  const room = (): Int32Array => new Int32Array(2 * length + 1)
  return {
    does,
    next,
    other,
    tests: program.map((step) => (step.type === 'character' ? step.is : undefined)),
    visited: new Int32Array(length),
    round: 0,
    waiting: room(),
    following: room(),
    open: room(),
  }
}

/** The code points of a text. */
export function codePointsOf(text: string, work: WorkBudget): readonly number[] {
  spendWork(work, 1 + (text.length >> 3))
  const codePoints: number[] = []
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) as number
    codePoints.push(code)
    if (code > 0xffff) i++
  }
  return codePoints
}

interface Run {
  readonly text: readonly number[]
  readonly work: WorkBudget
  /** For each lookaround: 1 at the positions where it is true. */
  readonly holds: readonly Uint8Array[]
  readonly isForward: boolean
  readonly isAnchored: boolean
  /** Gets a 1 at every position where a match ends. Undefined: the run stops at the first match. */
  readonly ends: Uint8Array | undefined
}

/** Does the program match? Visits each step at most once per position. */
export function runMachine(machine: Machine, { text, work, holds, isForward, isAnchored, ends }: Run): boolean {
  const { does, next, other, tests, visited, open } = machine
  const last = isForward ? text.length : 0
  let count = 0
  for (let position = text.length - last; ; position += isForward ? 1 : -1) {
    const { waiting, following } = machine
    if (!isAnchored || position === 0) waiting[count++] = 0
    if (count === 0) return false
    if (machine.round === MAX_ROUND) {
      visited.fill(0)
      machine.round = 0
    }
    const round = ++machine.round
    const codePoint = text[isForward ? position : position - 1]
    let ahead = 0
    let steps = 0
    for (let i = 0; i < count; i++) {
      let depth = 0
      open[depth++] = waiting[i] as number
      while (depth > 0) {
        const at = open[--depth] as number
        if (visited[at] === round) continue
        visited[at] = round
        steps++
        const code = does[at] as number
        if (code === CODES.character) {
          if (codePoint !== undefined && acceptsCharacter(tests[at] as CharacterTest, codePoint))
            following[ahead++] = next[at] as number
        } else if (code === CODES.fork) {
          open[depth++] = other[at] as number
          open[depth++] = next[at] as number
        } else if (code === CODES.match) {
          if (!ends) return true
          ends[position] = 1
        } else if (isTrue(code, text, position, holds[other[at] as number])) open[depth++] = next[at] as number
      }
    }
    spendWork(work, 1 + (steps >> 2))
    if (position === last) return false
    machine.waiting = following
    machine.following = waiting
    count = ahead
  }
}

function isTrue(code: number, text: readonly number[], position: number, holds: Uint8Array | undefined): boolean {
  switch (code) {
    case CODES.start:
      return position === 0
    case CODES.end:
      return position === text.length
    case CODES.look:
      return holds?.[position] === 1
    case CODES.noLook:
      return holds?.[position] !== 1
    default:
      return (isWord(text[position - 1]) !== isWord(text[position])) === (code === CODES.boundary)
  }
}

function isWord(code: number | undefined): boolean {
  if (code === undefined) return false
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122)
}
