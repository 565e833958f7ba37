// The evaluations of the workbench: sessions become cases, and cases run with what was recorded.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tool } from 'toolwright'
import { bearerTokens } from 'toolwright/server'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { approval, createTestServer, runBody, SESSIONS, type TestServerOptions } from '../../server.test-kit.ts'

const find = tool({
  name: 'find',
  description: 'Finds an order',
  parameters: z.object({ order: z.string() }),
  run: ({ order }) => ({ order, item: 'lamp' }),
})
const turn = [{ calls: [{ name: 'find', args: { order: 'A-7' } }] }, 'A lamp.']

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-evals-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

function serverIn(folder: string, options: TestServerOptions = {}) {
  const agentFiles = { desk: join(folder, 'agent.ts') }
  const client = createTestServer({ dev: true, agentFiles, tools: [find], steps: turn, ...options })
  const { send } = client
  const record = (set: string, more: object = {}) =>
    send(`POST ${SETS}/${set}/record`, { evalId: 'lamp', sessionId: 's1', userId: 'ada', ...more })
  const converse = async (): Promise<void> => {
    await send(`POST ${SESSIONS}`, { sessionId: 's1' })
    await send('POST /run', runBody('What is A-7?'))
  }
  return { ...client, record, converse, evaluate: (set: string, how = {}) => send(`POST ${SETS}/${set}/evaluate`, how) }
}

const SETS = '/dev/apps/desk/eval-sets'
const message = { user_content: { parts: [{ text: 'Hello' }] }, final_response: { parts: [{ text: 'Hello.' }] } }
const writeSet = (folder: string, ...cases: readonly object[]): void =>
  writeFileSync(join(folder, 'orders.evalset.json'), JSON.stringify({ eval_set_id: 'orders', eval_cases: cases }))

test('a session becomes a case in a new set, and its replay passes as often as it is asked for', async () => {
  const folder = newFolder()
  const { converse, record, evaluate } = serverIn(folder)
  await converse()
  expect((await record('orders')).json()).toEqual({ file: 'orders.evalset.json' })
  expect((await record('orders')).json()).toMatchObject({ errorCode: 'ALREADY_EXISTS' })
  expect((await record('orders', { replace: true })).status).toBe(200)
  const [started, results, ended] = (await evaluate('orders', { repeat: 3 })).frames()
  expect(started).toEqual({ cases: 1 })
  expect(results.results).toMatchObject([{ set: 'orders', case: 'lamp', status: 'PASSED' }])
  expect(results.results[0].trials).toHaveLength(3)
  expect(ended).toEqual({
    passRates: [
      { k: 1, rate: 1 },
      { k: 3, rate: 1 },
    ],
  })
})

test('the first entry that differs is sent with what was recorded and what was replayed', async () => {
  const folder = newFolder()
  const before = serverIn(folder)
  await before.converse()
  await before.record('orders')
  const gated = serverIn(folder, { tools: [{ ...find, requiresConfirmation: true }] })
  const [, { results }, { passRates }] = (await gated.evaluate('orders')).frames()
  const [replay] = results[0].trials[0].checks
  expect(replay).toMatchObject({ name: 'replay', status: 'FAILED', detail: expect.stringContaining('Entry 3') })
  expect(replay.difference.entries.recorded).toMatchObject({ type: 'intent' })
  expect(replay.difference.entries.replayed).toMatchObject({ type: 'request', kind: 'confirmation' })
  expect(passRates).toEqual([{ k: 1, rate: 0 }])
})

test('the criteria beside the agent decide, and a judge that no replay asks is a note', async () => {
  const folder = newFolder()
  writeSet(folder, { eval_id: 'a', conversation: [message] })
  writeFileSync(join(folder, 'test_config.json'), '{"criteria":{"response_match_score":0.5,"safety_v1":0.5}}')
  const { evaluate } = serverIn(folder, { steps: ['Hello.', 'Hello.'] })
  const [, { results }] = (await evaluate('orders', { mode: 'live' })).frames()
  expect(results[0].trials[0].checks).toMatchObject([
    { name: 'response_match_score', status: 'PASSED' },
    { name: 'safety_v1', status: 'NOT_EVALUATED' },
  ])
  writeFileSync(join(folder, 'test_config.json'), '{"criteria":7}')
  expect((await evaluate('orders')).json()).toMatchObject({ errorCode: 'INVALID_REQUEST' })
})

test('a difference shows nothing that only the body of a tool may see', async () => {
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    run: (_, context) => context.requestInput({ key: 'k', message: 'Which?', sealed: 'a sealed secret' }),
  })
  const folder = newFolder()
  const { converse, record, evaluate } = serverIn(folder, { tools: [ask], steps: [{ calls: [{ name: 'ask' }] }] })
  await converse()
  await record('orders')
  expect((await evaluate('orders')).text).toContain('"status":"PASSED"')
  const file = join(folder, 'orders.evalset.json')
  const set = JSON.parse(readFileSync(file, 'utf8'))
  const entries: { record?: { type: string; message?: string } }[] = set.eval_cases[0].toolwright.recording.entries
  const request = entries.find(({ record }) => record?.type === 'request')
  expect(request?.record).toMatchObject({ sealed: 'a sealed secret' }) // a replay needs it
  Object.assign(request?.record ?? {}, { tool: 'another tool' })
  writeFileSync(file, JSON.stringify(set))
  const shown = await evaluate('orders')
  expect(shown.text).toContain('differs in tool')
  expect(shown.text).not.toContain('a sealed secret')
})

test('says why a session is no case, and writes no file', async () => {
  const folder = newFolder()
  const { send, record } = serverIn(folder)
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  const refused = await record('orders')
  expect(refused.status).toBe(400)
  expect(refused.json().error).toContain('it has no message of a user')
  expect((await record('orders', { sessionId: 'other' })).status).toBe(404)
  expect((await record('orders', { evalId: ' ' })).status).toBe(400)
  expect(readdirSync(folder)).toEqual([])
})

test('a session that waits for an approval is recorded with the answer that it got later', async () => {
  const folder = newFolder()
  const { send, converse, record, evaluate } = serverIn(folder, { tools: [{ ...find, requiresConfirmation: true }] })
  await converse()
  const [{ id }] = (await send('GET /apps/desk/users/ada/pending')).json()
  await send('POST /run', runBody([approval(id)]))
  await record('orders')
  const [, { results }] = (await evaluate('orders')).frames()
  expect(results).toMatchObject([{ case: 'lamp', status: 'PASSED' }])
})

const recording = { version: 2, appName: 'a', userId: 'u', sessionId: 's', entries: [], models: {}, steps: [] }
test.each<[string, object[], string]>([
  [
    'two cases with one id',
    ['a', 'a'].map((eval_id) => ({ eval_id, conversation: [message] })),
    'two cases with the id',
  ],
  [
    'a recording of another version',
    [{ eval_id: 'a', conversation: [message], toolwright: { recording } }],
    'has version 2, and this version of toolwright reads version 1',
  ],
])('a set with %s is refused before a case runs', async (_, cases, problem) => {
  const folder = newFolder()
  writeSet(folder, ...cases)
  const { evaluate } = serverIn(folder)
  const refused = await evaluate('orders')
  expect([refused.status, refused.json().errorCode]).toEqual([400, 'INVALID_REQUEST'])
  expect(refused.json().error).toContain(problem)
})

test.each(['..', '../orders', 'a\\b', '.hidden', 'a..b', 'x'.repeat(300), 'a\u0000b', '-rf', 'nul\n'])(
  'refuses the set %j, and reads and writes nothing',
  async (name) => {
    const folder = newFolder()
    const { converse, record, evaluate } = serverIn(folder)
    await converse()
    if (name !== '..')
      // which is part of the path
      for (const refused of [await record(encodeURIComponent(name)), await evaluate(encodeURIComponent(name))])
        expect([refused.status, refused.json().errorCode]).toEqual([400, 'INVALID_REQUEST'])
    expect(readdirSync(folder)).toEqual([])
  },
)

test.each([{ mode: 'fast' }, { repeat: 0 }, { repeat: 1.5 }, { repeat: 101 }, { repeat: 'x' }])(
  'refuses to run a set with %j',
  async (how) => {
    const folder = newFolder()
    writeSet(folder, { eval_id: 'a', conversation: [message] })
    expect((await serverIn(folder).evaluate('orders', how)).json()).toMatchObject({ errorCode: 'INVALID_REQUEST' })
  },
)

test('refuses more runs than a page can show, and to write where a link leads', async () => {
  const folder = newFolder()
  const { converse, record, evaluate } = serverIn(folder)
  const cases = Array.from({ length: 201 }, (_, at) => ({ eval_id: `c${at}`, conversation: [message] }))
  writeSet(folder, ...cases)
  expect((await evaluate('orders', { repeat: 100 })).json().error).toContain('more than 20000 runs')
  const outside = join(newFolder(), 'outside.json')
  writeFileSync(outside, '{"eval_set_id":"x","eval_cases":[]}')
  symlinkSync(outside, join(folder, 'linked.evalset.json'))
  await converse()
  expect((await record('linked')).json()).toMatchObject({ errorCode: 'ALREADY_EXISTS' })
  expect(readFileSync(outside, 'utf8')).toBe('{"eval_set_id":"x","eval_cases":[]}')
})

test('only a principal that may act as any user runs sets and makes cases', async () => {
  const folder = newFolder()
  const tokens = {
    'token-of-ada-0123456789': 'ada',
    'token-of-operator-0123456789': { userId: 'op', mayActAsAnyUser: true },
  }
  const { send } = serverIn(folder, { authenticate: bearerTokens(tokens), steps: [...turn, ...turn] })
  const [ada, operator] = Object.keys(tokens).map((as) => ({ as }))
  await send(`POST ${SESSIONS}`, { sessionId: 's1' }, ada)
  await send('POST /run', runBody('What is A-7?'), ada)
  const body = { evalId: 'lamp', sessionId: 's1', userId: 'ada' }
  expect((await send(`POST ${SETS}/orders/record`, body, ada)).json()).toMatchObject({ errorCode: 'FORBIDDEN' })
  expect(existsSync(join(folder, 'orders.evalset.json'))).toBe(false)
  expect((await send(`POST ${SETS}/orders/record`, body, operator)).status).toBe(200)
  expect((await send(`POST ${SETS}/orders/evaluate`, {}, ada)).json()).toMatchObject({ errorCode: 'FORBIDDEN' })
  expect((await send(`POST ${SETS}/orders/evaluate`, {}, operator)).frames()).toHaveLength(3)
})

test('two runs at once do not mix, a case without a recording fails alone, and a hanging one ends at its limit', async () => {
  const folder = newFolder()
  const hang = tool({ name: 'hang', description: 'Hangs', run: () => new Promise<never>(() => {}) })
  const { converse, record, evaluate } = serverIn(folder, {
    tools: [find, hang],
    steps: [...turn, { calls: [{ name: 'hang' }] }],
  })
  await converse()
  await record('orders')
  const file = join(folder, 'orders.evalset.json')
  const set = JSON.parse(readFileSync(file, 'utf8'))
  set.eval_cases.push({ eval_id: 'typed', conversation: [message] })
  writeFileSync(file, JSON.stringify(set))
  writeFileSync(
    join(folder, 'slow.evalset.json'),
    JSON.stringify({
      eval_set_id: 'slow',
      eval_cases: [{ eval_id: 'hangs', conversation: [message], toolwright: { timeLimitMs: 50 } }],
    }),
  )
  const [first, second, slow] = await Promise.all([
    evaluate('orders'),
    evaluate('orders'),
    evaluate('slow', { mode: 'live' }),
  ])
  for (const one of [first, second]) {
    const results = one.frames().flatMap((frame) => frame.results ?? [])
    expect(results.find((result) => result.case === 'lamp')).toMatchObject({ status: 'PASSED' })
    expect(results.find((result) => result.case === 'typed')).toMatchObject({
      status: 'ERROR',
      trials: [{ error: expect.stringContaining('has no recording') }],
    })
  }
  expect(slow.text).toContain('The case took longer than 50 ms.')
})
