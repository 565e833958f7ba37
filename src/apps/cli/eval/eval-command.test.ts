import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sqlite } from '../../sqlite/sqlite.ts'
import { runCommandLine } from '../terminal.test-kit.ts'

const AGENT = `
import { confirm, LlmAgent, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
const pay = confirm(tool({ name: 'pay', description: 'Pays', run: () => ({ paid: true }) }))
const model = scriptedModel(({ contents }) => {
  const response = contents.at(-1)?.parts[0]?.functionResponse?.response
  return response ? (response.paid ? 'Paid.' : 'Denied.') : { calls: [{ name: 'pay' }] }
})
export default new LlmAgent({ name: 'desk', model, tools: [pay] })
`

/** A folder inside the repository, where the agent file finds the package. */
function project(agent = AGENT): string {
  const folder = mkdtempSync(join('test', '.eval-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'agent.ts'), agent)
  return folder
}

function withCases(folder: string, cases: readonly object[], name = 'desk.evalset.json'): string {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify({ eval_set_id: 'desk', eval_cases: cases }))
  return file
}

const turn = { user_content: { parts: [{ text: 'Pay' }] } }
const passing = { eval_id: 'denied', conversation: [turn], toolwright: { checks: [{ contains: 'Denied' }] } }
const failing = { eval_id: 'paid', conversation: [turn], toolwright: { checks: [{ contains: 'Paid' }] } }

test('toolwright eval prints a table, and exits with 1 when a check fails', async () => {
  const folder = project()
  expect(await runCommandLine(['eval', withCases(folder, [passing])])).toMatchObject({ code: 0 })
  const { code, out } = await runCommandLine(['eval', withCases(folder, [passing, failing])])
  expect(code).toBe(1)
  expect(out).toMatch(/^desk\/denied {2}PASSED/m)
  expect(out).toMatch(/^desk\/paid {4}FAILED/m)
  expect(out).toContain('contains: FAILED. "Paid" not in "Denied."')
  expect(out).toContain('1 of 2 cases passed\n1 case failed.')
})

test('toolwright eval judges repeated runs by --min, and a baseline by what passed in it', async () => {
  const folder = project()
  const file = withCases(folder, [passing, failing])
  const repeated = (min: string) => runCommandLine(['eval', file, '--repeat', '2', '--min', min])
  expect((await repeated('pass^1=0.5,pass^2=0.5')).code).toBe(0)
  const missed = await repeated('pass^2=0.6')
  expect(missed).toMatchObject({ code: 1, out: expect.stringContaining('pass^2 is 0.500, at least 0.6 is needed.') })
  const { out } = await runCommandLine(['eval', withCases(folder, [passing]), '--json'])
  expect(JSON.parse(out).cases[0].status).toBe('PASSED')
  const baseline = join(folder, 'baseline.json')
  writeFileSync(baseline, out.replace('"denied"', '"paid"'))
  const lost = await runCommandLine(['eval', withCases(folder, [failing]), '--min', 'pass^1=0', '--baseline', baseline])
  expect(lost).toMatchObject({ code: 1, out: expect.stringContaining('1 case passed in the baseline: desk/paid.') })
})

test('toolwright eval prints JUnit XML that escapes what models say', async () => {
  const folder = project(AGENT.replace("'Denied.'", "'<b>\\u0000&\"'"))
  const { out } = await runCommandLine(['eval', withCases(folder, [failing]), '--junit'])
  expect(out).toContain('<testsuite name="desk" tests="1" failures="1" errors="0">')
  expect(out).toContain('&lt;b&gt;')
  expect(out).not.toContain('<b>')
  expect(out).not.toContain('\u0000')
})

test('toolwright eval fails when no case was evaluated, and exits with 2 when cases cannot run', async () => {
  const folder = project()
  const none = await runCommandLine(['eval', withCases(folder, [])])
  expect(none).toMatchObject({ code: 1, out: expect.stringContaining('No case was evaluated.') })
  const unrecorded = await runCommandLine(['eval', withCases(folder, [passing]), '--replay'])
  expect(unrecorded).toMatchObject({ code: 2, out: expect.stringContaining('Case "denied" has no recording') })
  const unchecked = { eval_id: 'a', conversation: [turn] }
  expect(await runCommandLine(['eval', withCases(folder, [unchecked])])).toMatchObject({ code: 2 })
})

test('toolwright eval judges by the test_config.json beside the file, and names criteria that it does not know', async () => {
  const folder = project()
  const conversation = [{ ...turn, final_response: { parts: [{ text: 'Denied at once' }] } }]
  const file = withCases(folder, [{ eval_id: 'denied', conversation }])
  expect((await runCommandLine(['eval', file])).out).toContain('turn 1: similar: FAILED')
  const config = join(folder, 'test_config.json')
  const write = (criteria: object) => writeFileSync(config, JSON.stringify({ criteria }))
  write({ response_match_score: 0.4 })
  expect(await runCommandLine(['eval', file])).toMatchObject({ code: 0 })
  write({ response_match_score: 0.4, safety_v1: 0.8 })
  const unknown = await runCommandLine(['eval', file])
  expect(unknown.code).toBe(2)
  expect(unknown.out).toContain('safety_v1: NOT_EVALUATED. Criterion "safety_v1" is not known.')
  write({ response_match_score: 'high' })
  expect(await runCommandLine(['eval', file])).toMatchObject({ code: 2, errors: expect.stringContaining('threshold') })
  const other = join(folder, 'strict.json')
  writeFileSync(other, JSON.stringify({ criteria: { response_match_score: 0.9 } }))
  expect(await runCommandLine(['eval', file, '--config', other])).toMatchObject({ code: 1 })
})

test.each([
  [['missing.json'], 'missing.json'],
  [['x.json', '--replay', '--live'], 'Pass one of --replay and --live.'],
  [['x.json', '--min', 'pass^2=0.5'], '--min pass^2=0.5 needs --repeat 2'],
  [['x.json', '--min', 'often'], '--min takes items such as pass^1=0.9'],
  [['x.json', '--json', '--junit'], 'Pass --json or --junit'],
  [[], 'No file given.'],
])('toolwright eval %j exits with 2', async (args, message) => {
  const { code, errors } = await runCommandLine(['eval', ...args])
  expect(code).toBe(2)
  expect(errors).toContain(message)
})

test('toolwright eval record makes a case that replays, and a removed gate is found', async () => {
  const folder = project()
  const [agent, db, out] = ['agent.ts', 'app.db', 'evals.evalset.json'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const input = '{"message":"Pay"}\n'
  const asked = await runCommandLine(['run', agent, '--db', db, '--session', 's1', '--json'], { input })
  const { id } = JSON.parse(asked.out.trim().split('\n').at(-1) ?? '').end.pending[0]
  const answer = `{"answer":{"id":"${id}","confirmed":true}}\n`
  await runCommandLine(['run', agent, '--db', db, '--session', 's1', '--json'], { input: answer })
  const made = await runCommandLine(['eval', 'record', 's1', '--agent', agent, '--db', db, '--out', out])
  expect(made).toMatchObject({ code: 0, out: expect.stringContaining(`Case "s1" is in ${out}`) })
  expect(JSON.parse(readFileSync(out, 'utf8')).eval_cases[0].toolwright.answers).toMatchObject([
    { tool: 'pay', approve: true },
  ])
  expect(await runCommandLine(['eval', out, '--replay'])).toMatchObject({ code: 0 })
  const other = join(folder, 'changed.ts')
  writeFileSync(other, AGENT.replace('confirm(tool({ name', '((tool) => tool)(tool({ name'))
  const changed = await runCommandLine(['eval', out, '--replay', '--agent', other])
  expect(changed.code).toBe(1)
  expect(changed.out).toContain('replay: FAILED. Entry 3 (record request) differs')
  const again = await runCommandLine(['eval', 'record', 's1', '--agent', agent, '--db', db, '--out', out])
  expect(again).toMatchObject({ code: 1, errors: expect.stringContaining('has a case "s1" already') })
})

test('toolwright stats shows calls, failures, sizes and approvals from the logs of a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-stats-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const db = join(folder, 'app.db')
  const entriesOf = (at: number, confirmed: boolean) => {
    const id = `c${at}`
    const common = { invocationId: `e${at}`, actions: {} }
    const desk = { ...common, author: 'desk', nodeInfo: { path: 'desk' } }
    const denied = { error: 'Denied.', errorCode: 'CANCELLED' }
    const response = confirmed ? { paid: true } : denied
    return [
      {
        event: {
          ...common,
          id: `m${at}`,
          author: 'user',
          timestamp: at,
          content: { role: 'user', parts: [{ text: 'Pay' }] },
        },
      },
      {
        event: {
          ...desk,
          id: `r${at}`,
          timestamp: at + 1,
          turnComplete: true,
          ...(at === 200 && { modelVersion: 'gemini-2.5-flash' }), // logs of earlier versions have none
          content: { role: 'model', parts: [{ functionCall: { id, name: 'pay', args: {} } }] },
        },
      },
      {
        record: {
          type: 'request',
          id: `q${at}`,
          invocationId: `e${at}`,
          path: 'desk',
          callId: id,
          kind: 'confirmation',
          origin: 'gate',
          args: {},
          definition: '',
          createdAt: at + 1,
        },
      },
      {
        event: {
          ...common,
          id: `a${at}`,
          author: 'user',
          timestamp: at + 2,
          content: {
            role: 'user',
            parts: [{ functionResponse: { id: `q${at}`, name: 'adk_request_confirmation', response: { confirmed } } }],
          },
        },
      },
      {
        event: {
          ...desk,
          id: `t${at}`,
          timestamp: at + 5,
          content: { role: 'tool', parts: [{ functionResponse: { id, name: 'pay', response } }] },
        },
      },
      {
        event: {
          ...desk,
          id: `d${at}`,
          timestamp: at + 6,
          turnComplete: true,
          content: { role: 'model', parts: [{ text: 'Done.' }] },
        },
      },
    ] as const
  }
  {
    using services = sqlite(db)
    for (const userId of ['ada', 'bob']) {
      const key = { appName: 'shop', userId, sessionId: 's' }
      await services.sessionService.createSession(key)
      const lease = await services.sessionService.claim(key)
      await services.sessionService.append(lease, 0, [...entriesOf(100, true), ...entriesOf(200, userId === 'ada')])
      await services.sessionService.release(lease)
    }
  }
  const read = async (...args: string[]) => JSON.parse((await runCommandLine(['stats', db, '--json', ...args])).out)
  const [pay] = await read()
  expect(pay).toMatchObject({
    name: 'pay',
    calls: 4,
    failures: { DENIED: 1 },
    resultBytes: 3 * 13 + 43,
    approvalsAsked: 4,
    approvalsDenied: 1,
    waitedSeconds: expect.any(Number),
    fastApprovals: 1,
  })
  expect(pay.p50Ms).toBeGreaterThan(2_900)
  expect(pay.p50Ms).toBeLessThan(3_100)
  // the first result of a session is part of three requests: of its own turn and of the two of the next, the second of one
  expect(pay.carriedTokens).toBe(Math.round((2 * 13 * 3 + 13 + 43) / 4))
  expect((await read('--by', 'user')).map(({ name, calls }: { name: string; calls: number }) => [name, calls])).toEqual(
    [
      ['ada', 2],
      ['bob', 2],
    ],
  )
  expect(
    (await read('--by', 'model')).map(({ name, calls }: { name: string; calls: number }) => [name, calls]),
  ).toEqual([
    ['gemini-2.5-flash', 2],
    ['unknown', 2],
  ])
  expect((await read('--since', '1970-01-01T00:03:00Z'))[0].calls).toBe(2)
  expect((await runCommandLine(['stats', db])).out).toMatch(/^pay +4 +1 /m)
  expect(await runCommandLine(['stats', db, '--since', 'long ago'])).toMatchObject({ code: 2 })
  expect(await runCommandLine(['stats', db, '--by', 'colour'])).toMatchObject({ code: 2 })
})
