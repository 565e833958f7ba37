import { writeSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

/** Prints `N passed, N failed` as the very last line of a run, whatever other reporters say. */
export default class LastLine implements Reporter {
  #count: Count = { passed: 0, failed: 0, skipped: 0 }

  onInit(): void {
    process.once('exit', (code) => writeSync(1, `${lastLine(this.#count, code)}\n`))
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.#count = count(modules, unhandledErrors)
  }
}

interface Count {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** An error outside any test (a file that does not load, an unhandled rejection) counts as one failure. */
function count(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): Count {
  const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
  for (const module of modules) {
    for (const suite of [module, ...module.children.allSuites()]) count.failed += suite.errors().length
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      count[state === 'pending' ? 'failed' : state]++
    }
  }
  return count
}

/** A run that ends with an error and counted none (its setup threw, it found no tests) did not pass either. */
export function lastLine({ passed, failed, skipped }: Count, exitCode: number): string {
  const failures = exitCode === 0 ? failed : Math.max(failed, 1)
  return `${passed} passed, ${failures} failed${skipped ? `, ${skipped} skipped` : ''}`
}
