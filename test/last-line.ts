import { writeSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

/** Prints the flaky and the skipped tests, and `N passed, N failed` as the very last line of a run, after all other reporters. */
export default class LastLine implements Reporter {
  #count: Count = { passed: 0, failed: 0, skipped: 0 }

  onInit(): void {
    process.once('exit', (code) => writeSync(1, `${lastLine(this.#count, code)}\n`))
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.#count = count(modules, unhandledErrors)
    for (const line of [...flakyLines(modules), ...skippedLines(modules)]) console.log(line)
  }
}

/** How many tests had each result. */
interface Count {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** Counts results. An error outside of tests (a file that does not load, an unhandled rejection) counts as one failure. */
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

/** The last line. A run that exits with an error and counted no failure (a setup threw, no test was found) has failed once. */
export function lastLine({ passed, failed, skipped }: Count, exitCode: number): string {
  const failures = exitCode === 0 ? failed : Math.max(failed, 1)
  return `${passed} passed, ${failures} failed${skipped ? `, ${skipped} skipped` : ''}`
}

/** One line for each test that passed at its second attempt only. Such a test, or what it tests, has a defect. */
function flakyLines(modules: readonly TestModule[]): string[] {
  return modules.flatMap(({ children, relativeModuleId }) =>
    [...children.allTests('passed')]
      .filter((test) => test.diagnostic()?.flaky)
      .map((test) => `FLAKY: ${relativeModuleId}: ${test.fullName}: ${test.result().errors?.[0]?.message ?? ''}`),
  )
}

/** One line for each file with skipped tests. The reasons are printed by the tests themselves, as `NOT TESTED: ...`. */
function skippedLines(modules: readonly TestModule[]): string[] {
  return modules.flatMap(({ children, relativeModuleId }) => {
    const skipped = [...children.allTests('skipped')]
    const names = new Set(skipped.map(({ fullName }) => fullName.split(' > ')[0]))
    return skipped.length > 0
      ? `NOT TESTED: ${relativeModuleId}: ${[...names].join(', ')} (${skipped.length} tests)`
      : []
  })
}
