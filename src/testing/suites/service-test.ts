/** The runner's `test` function: vitest's, node:test's, or your own. */
export type SuiteTest = (name: string, run: () => Promise<void>) => unknown

/** What the service under test is made with, so that the suite can move time. */
export interface SuiteOptions {
  /** Milliseconds since the epoch, on a clock that may be set. */
  readonly now: () => number
  /** Milliseconds on a clock that is never set: leases are measured on it. */
  readonly monotonicNow: () => number
  readonly leaseMs: number
}

/** A service, or one with what ends it. */
export type MadeService<S> = S | { readonly service: S; readonly close?: (() => unknown) | undefined }

/** Makes an empty service; called once for each test. */
export type MakeService<S> = (options: SuiteOptions) => MadeService<S> | Promise<MadeService<S>>

/** The time the service under test sees. */
export interface SuiteClock {
  /** Milliseconds since the epoch; moves both clocks. */
  time: number
  /** How far the operator has set the clock of the system; leases must not notice. */
  offset: number
}

/** One test: a name that tells what the user sees, and its telling. */
export type ServiceTest<S> = (name: string, run: (service: S, clock: SuiteClock) => Promise<void>) => void

/** How long a lease of a service under test lives. */
export const LEASE_MS = 15_000

/** Gives each serviceTest a fresh service and a clock, and closes the service afterwards. */
export function createServiceTest<S extends object>(test: SuiteTest, make: MakeService<S>): ServiceTest<S> {
  return (name, run) => {
    test(name, async () => {
      const clock: SuiteClock = { time: 1_700_000_000_000, offset: 0 }
      const now = (): number => clock.time + clock.offset
      const made = await make({ now, monotonicNow: () => clock.time, leaseMs: LEASE_MS })
      const { service, close } = 'service' in made ? made : { service: made, close: undefined }
      try {
        await run(service, clock)
      } finally {
        await close?.()
      }
    })
  }
}

/** Ids that have broken stores before: names of prototypes, separators, twins in Unicode and case, SQL, long ones. */
export const HOSTILE_IDS: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'a/b',
  'a:b',
  'a%2Fb',
  '../a',
  'a\0b',
  'a"b',
  "a'; drop table sessions; --",
  'a%',
  'a_',
  'A',
  'a',
  ' a',
  'a ',
  'caf\u00e9',
  'cafe\u0301',
  '\ud800',
  '\ufffd',
  '["a","b"]',
  'null',
  'undefined',
  '0',
  'x'.repeat(999),
  'x'.repeat(1000),
]

/** Pairs that become one when joined by a separator. */
export const SPLIT_PAIRS: readonly (readonly [string, string])[] = [
  ['a', 'b/c'],
  ['a/b', 'c'],
  ['a:b', 'c'],
  ['a', 'b:c'],
  ['a\0b', 'c'],
  ['a', 'b\0c'],
  ['a","b', 'c'],
  ['a', 'b","c'],
  ['a|b', 'c'],
  ['a', 'b|c'],
]
