// Matches the patterns of JSON Schemas in time proportional to the size of the pattern and the length of the text. The
// native engine backtracks: "^(a+)+$" takes it years on 60 letters. It is used only for patterns that it matches in linear
// time.
import { spendWork, type WorkBudget } from '../work-budget.ts'
import { codePointsOf, createMachine, runMachine } from './machine.ts'
import { isAnchored, isSafeForNativeEngine } from './native-engine.ts'
import { parsePattern } from './parse-pattern.ts'
import { buildProgram, type Program } from './program.ts'

/** A compiled regular expression. */
export interface Pattern {
  /** Does the text contain a match? Throws `WorkLimitError`. */
  test(text: string, work: WorkBudget): boolean
  /** The number of its steps, with counted repetitions written out. */
  readonly size: number
}

/** The longest text for the native engine. A shorter text cannot overflow the stack of the engine. */
const MAX_NATIVE_LENGTH = 100_000

/** Compiles a regular expression. Throws `UnsupportedPatternError` if it cannot be matched in bounded time. */
export function compilePattern(source: string): Pattern {
  const tree = parsePattern(source)
  const program = buildProgram(tree)
  const { size } = program
  const anchored = isAnchored(tree)
  const search = createSearch(program, anchored)
  if (!isSafeForNativeEngine(source, tree, program)) return { test: search, size }
  // Sticky: an anchored pattern is tried at the start only.
  const regExp = new RegExp(source, anchored ? 'uy' : 'u')
  const tries = anchored ? 1 : size
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

function createSearch({ steps, lookarounds }: Program, isAnchored: boolean): Pattern['test'] {
  const machine = createMachine(steps)
  const looks = lookarounds.map(({ steps, behind }) => ({ machine: createMachine(steps), behind }))
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
