// Results as JUnit XML, which CI systems show.
import { nameOf } from './judge-results.ts'
import type { CaseResult, EvalResults, TrialResult } from './results.ts'

/** The results as one XML document. */
export function toJUnit({ cases }: EvalResults): string {
  const suites = [...Map.groupBy(cases, ({ set }) => set)].map(([set, own]) => {
    const failures = own.filter(({ status }) => status === 'FAILED').length
    const errors = own.filter(({ status }) => status === 'ERROR' || status === 'NOT_EVALUATED').length
    const counts = `tests="${own.length}" failures="${failures}" errors="${errors}"`
    return `<testsuite name="${toXml(set)}" ${counts}>\n${own.map(testCase).join('\n')}\n</testsuite>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('\n')}\n</testsuites>\n`
}

function testCase(result: CaseResult): string {
  const seconds = result.trials.reduce((sum, { timeMs }) => sum + timeMs, 0) / 1000
  const start = `<testcase classname="${toXml(result.set)}" name="${toXml(result.case)}" time="${seconds.toFixed(3)}"`
  if (result.status === 'PASSED') return `${start}/>`
  const kind = result.status === 'FAILED' ? 'failure' : 'error'
  const text = result.trials.flatMap(problemsOf).join('\n')
  return `${start}><${kind} message="${toXml(`${nameOf(result)}: ${result.status}`)}">${toXml(text)}</${kind}></testcase>`
}

/** What went wrong in a run, a line each. */
export function problemsOf({ checks, error, notes }: TrialResult): string[] {
  const failed = checks.filter(({ status }) => status !== 'PASSED')
  const lines = failed.map(({ name, status, detail = '' }) => `${name}: ${status}${detail && `. ${detail}`}`)
  return [...(error === undefined ? [] : [error]), ...lines, ...notes]
}

/** XML allows no control characters, not even escaped ones. */
function toXml(text: string): string {
  const entities: Record<string, string> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;', "'": '&apos;' }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it replaces
  const plain = text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '?')
  return plain.replace(/[<>&"']/g, (letter) => entities[letter] ?? letter)
}
