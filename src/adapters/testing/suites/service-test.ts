/** The `test` function of a test runner such as vitest or node:test. */
export type SuiteTest = (name: string, run: () => Promise<void>) => unknown

/** Options for the service under test. They let the suite control time. */
export interface SuiteOptions {
  /** Milliseconds since 1970. The suite may set this clock back or forward. */
  readonly now: () => number
  /** Milliseconds on a clock that never jumps. Use it for leases. */
  readonly monotonicNow: () => number
  /** Length of a lease in milliseconds. */
  readonly leaseMs: number
}

/** A service, or a service with a `close` function that is called after the test. */
export type MadeService<S> = S | { readonly service: S; readonly close?: (() => unknown) | undefined }

/** Creates an empty service. Called once for each test. */
export type MakeService<S> = (options: SuiteOptions) => MadeService<S> | Promise<MadeService<S>>

/** The clocks of the service under test. */
interface SuiteClock {
  /** Milliseconds since 1970. Changing it moves both clocks. */
  time: number
  /** How far the system clock was set. It must not affect leases. */
  offset: number
}

/** Defines one test of a service. */
export type ServiceTest<S> = (name: string, run: (service: S, clock: SuiteClock) => Promise<void>) => void

/** Length of a lease in the suites, in milliseconds. */
export const LEASE_MS = 15_000

/** Creates the function that defines tests. Each test gets a new service and clock; the service is closed afterwards. */
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
