import { expect, test } from 'vitest'
import { toLine, Warnings } from './warnings.ts'

function warnings(): { lines: string[]; report(problem: string): void } {
  const lines: string[] = []
  const made = new Warnings('files', { warn: (line) => lines.push(line) })
  return { lines, report: (problem) => made.report(problem) }
}

test('logs each problem once, with the name of the toolset', () => {
  const { lines, report } = warnings()
  for (const problem of ['one', 'one', 'two']) report(problem)
  expect(lines).toEqual(['Toolset "files": one', 'Toolset "files": two'])
})

test('stops after 1,000 problems, and says so', () => {
  const { lines, report } = warnings()
  for (let at = 0; at < 5_000; at++) report(`problem ${at}`)
  expect(lines).toHaveLength(1_001)
  expect(lines.at(-1)).toContain('There are more warnings, which are not logged.')
})

test('text of a server is one line without control characters', () => {
  expect(toLine('a\nERROR forged\r\u001b[2J\u202e\u2028b')).toBe('a ERROR forged [2J b')
  expect(toLine('x'.repeat(1_000_000)).length).toBeLessThan(1_100)
})
