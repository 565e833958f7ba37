// Checks of tool trajectories.
import type { CallView } from '../../../core/event/views/views.ts'
import type { CallsCheck, ExpectedCall, Verdict } from './check.ts'
import { describeExpected, describeValue, matches } from './matches.ts'

/** Are these the calls? Calls inside agent tools and code do not count. */
export function checkCalls({ calls: expected, match = 'exact' }: CallsCheck, all: readonly CallView[]): Verdict {
  const made = all.filter(({ parent, kind }) => parent === undefined && kind === 'tool')
  const isTrue = match === 'exact' ? isExact(expected, made) : isAmong(expected, made, match === 'in-order')
  if (isTrue) return { status: 'PASSED', score: 1 }
  const detail = `expected (${match}) ${expected.map(describeCall).join(', ') || 'no calls'}; made ${made.map(describeMade).join(', ') || 'none'}`
  return { status: 'FAILED', score: 0, detail }
}

/** Was the call never made, also not inside agent tools and code? A denied call was made. */
export function checkNever(forbidden: string | ExpectedCall, all: readonly CallView[]): Verdict {
  const call = typeof forbidden === 'string' ? { name: forbidden } : forbidden
  const found = all.find((made) => fits(call, made))
  return found ? { status: 'FAILED', detail: `made ${describeMade(found)}` } : { status: 'PASSED' }
}

function isExact(expected: readonly ExpectedCall[], made: readonly CallView[]): boolean {
  return expected.length === made.length && expected.every((call, at) => fits(call, made[at] as CallView))
}

/** Each expected call has a made call of its own. In order, the first one that fits is as good as any later one. */
function isAmong(expected: readonly ExpectedCall[], made: readonly CallView[], inOrder: boolean): boolean {
  if (!inOrder) return canAssign(expected, made)
  let at = 0
  for (const call of made) if (at < expected.length && fits(expected[at] as ExpectedCall, call)) at++
  return at === expected.length
}

/** Assigns each expected call a made call. A matcher may fit many calls, so that an earlier choice may have to change. */
function canAssign(expected: readonly ExpectedCall[], made: readonly CallView[]): boolean {
  const owner: (number | undefined)[] = made.map(() => undefined)
  const assign = (at: number, tried: Set<number>): boolean =>
    made.some((call, index) => {
      if (tried.has(index) || !fits(expected[at] as ExpectedCall, call)) return false
      tried.add(index)
      const other = owner[index]
      if (other !== undefined && !assign(other, tried)) return false
      owner[index] = at
      return true
    })
  return expected.every((_, at) => assign(at, new Set()))
}

function fits({ name, args }: ExpectedCall, made: CallView): boolean {
  return made.name === name && (args === undefined || matches(made.args, args))
}

function describeCall({ name, args }: ExpectedCall): string {
  return `${name}(${args === undefined ? '...' : describeExpected(args)})`
}

function describeMade({ name, args }: CallView): string {
  return `${name}(${describeValue(args, 200)})`
}
