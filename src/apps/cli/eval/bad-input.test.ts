// What is wrong with a file, a case, a recording or a judge is said, and never passes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommandLine } from '../terminal.test-kit.ts'

/** Answers "Yes." to everything but "hang", which it never answers. */
const AGENT = `
import { createEvent } from 'toolwright'
export default {
  name: 'desk',
  run: async function* ({ invocation }) {
    if (invocation.userContent?.parts[0]?.text === 'hang') await new Promise(() => {})
    yield createEvent({ content: { role: 'model', parts: [{ text: 'Yes.' }] } })
  },
}
`

/** A folder inside the repository, where the agent file finds the package. */
function project(): string {
  const folder = mkdtempSync(join('test', '.eval-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'agent.ts'), AGENT)
  return folder
}

function fileOf(folder: string, ...cases: readonly object[]): string {
  const file = join(folder, 'desk.evalset.json')
  writeFileSync(file, JSON.stringify({ eval_set_id: 'desk', eval_cases: cases }))
  return file
}

const caseOf = (id: string, text = 'Hello', more: object = {}) => ({
  eval_id: id,
  conversation: [{ user_content: { parts: [{ text }] } }],
  toolwright: { checks: [{ contains: 'Yes' }], ...more },
})

test('runs 10,000 cases, and names only those that did not pass', { timeout: 120_000 }, async () => {
  const cases = Array.from({ length: 10_000 }, (_, at) => caseOf(`c${at}`))
  const failing = caseOf('odd', 'Hello', { checks: [{ contains: 'No' }] })
  const { code, out } = await runCommandLine(['eval', fileOf(project(), ...cases, failing), '--concurrency', '20'])
  expect(code).toBe(1)
  expect(out.match(/^desk\//gm)).toHaveLength(1)
  expect(out).toContain('desk/odd  FAILED')
  expect(out).toContain('10000 of 10001 cases passed\n1 case failed.')
})

test('a hanging case ends at its time limit with exit code 2, and the others are evaluated', async () => {
  const hanging = caseOf('hangs', 'hang', { timeLimitMs: 100 })
  const { code, out } = await runCommandLine(['eval', fileOf(project(), hanging, caseOf('ok'))])
  expect(code).toBe(2)
  expect(out).toMatch(/^desk\/hangs +ERROR/m)
  expect(out).toContain('The case took longer than 100 ms.')
  expect(out).toMatch(/^desk\/ok +PASSED/m)
})

const ENTRY = { event: { id: 'x', author: 'user', invocationId: 'e', timestamp: 1, actions: {} } }
const recording = {
  version: 1,
  appName: 'a',
  userId: 'u',
  sessionId: 's',
  state: {},
  entries: [ENTRY],
  models: {},
  toolsets: {},
  steps: [],
}
test.each<[string, readonly object[], string]>([
  ['two cases with one id', [caseOf('a'), caseOf('a')], 'has two cases with the id "a"'],
  ['a case without an id', [{ ...caseOf('a'), eval_id: '' }], 'has no id'],
  [
    'a recording of another version',
    [caseOf('a', 'Hello', { recording: { ...recording, version: 2 } })],
    'has version 2, and this version of toolwright reads version 1',
  ],
  [
    'a recording with a damaged entry',
    [caseOf('a', 'Hello', { recording: { ...recording, entries: [{ event: {} }] } })],
    'has no valid list of entries',
  ],
  [
    'a recording with a damaged toolset',
    [caseOf('a', 'Hello', { recording: { ...recording, toolsets: { api: 'all' } } })],
    'has a toolset that is no list of tools',
  ],
  [
    'a recording with a damaged model',
    [caseOf('a', 'Hello', { recording: { ...recording, models: { desk: 7 } } })],
    'has a model without a name',
  ],
  ['a misspelled member', [caseOf('a', 'Hello', { chekcs: [] })], 'chekcs'],
])('%s runs no case and exits with 2', async (_, cases, message) => {
  const { code, errors, out } = await runCommandLine(['eval', fileOf(project(), ...cases), '--live'])
  expect([code, out]).toEqual([2, ''])
  expect(errors).toContain(message)
})

test('two files with the id of one set, and a file that is no set, exit with 2', async () => {
  const folder = project()
  const file = fileOf(folder, caseOf('a'))
  const twice = await runCommandLine(['eval', file, file])
  expect(twice).toMatchObject({ code: 2, errors: expect.stringContaining('Two files have the eval set "desk"') })
  const other = join(folder, 'other.json')
  writeFileSync(other, '{"eval_cases": [')
  expect(await runCommandLine(['eval', other])).toMatchObject({ code: 2 })
})

test.each([
  ['Perhaps.', 2, 'NOT_EVALUATED'],
  ['{"verdict":"YES"}', 2, 'NOT_EVALUATED'],
  ['No.\\nVERDICT: NO', 1, 'FAILED'],
  ['Yes.\\nVERDICT: YES', 0, 'PASSED'],
])('a judge that answers %j exits with %i', async (answer, code, status) => {
  const folder = project()
  const file = join(folder, 'desk.eval.ts')
  writeFileSync(
    file,
    `import { defineEval, judge } from 'toolwright/eval'
import { scriptedModel } from 'toolwright/testing'
const model = scriptedModel(() => '${answer}')
const checks = [judge({ model, rubric: 'It is polite.', samples: 3 })]
export default defineEval({ id: 'desk', cases: [{ id: 'a', turns: [{ user: 'Hello' }], checks }] })
`,
  )
  const ended = await runCommandLine(['eval', file])
  expect(ended.code).toBe(code)
  expect(ended.out).toMatch(new RegExp(`^desk/a +${status}`, 'm'))
})

test('no case at all is a failure, also with a minimum that every share reaches', async () => {
  const file = fileOf(project())
  for (const more of [[], ['--min', 'pass^1=0'], ['--replay']])
    expect(await runCommandLine(['eval', file, ...more])).toMatchObject({
      code: 1,
      out: expect.stringContaining('No case was evaluated.'),
    })
})
