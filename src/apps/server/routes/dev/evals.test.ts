// The eval tab of adk-web: sets and cases are files beside the agent.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tool } from 'toolwright'
import { readEvalSet } from 'toolwright/eval'
import { bearerTokens } from 'toolwright/server'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { createTestServer, runBody, SESSIONS, type TestServerOptions } from '../../server.test-kit.ts'

const find = tool({
  name: 'find',
  description: 'Finds an order',
  parameters: z.object({ order: z.string() }),
  run: ({ order }) => ({ order, item: 'lamp' }),
})
const turn = [{ calls: [{ name: 'find', args: { order: 'A-7' } }] }, 'A lamp.']

function evalServer(options: TestServerOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-evals-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const agentFiles = { desk: join(folder, 'agent.ts') }
  const client = createTestServer({
    dev: true,
    agentFiles,
    tools: [find],
    steps: [...turn, ...turn, ...turn],
    ...options,
  })
  const record = async (): Promise<void> => {
    await client.send(`POST ${SESSIONS}`, { sessionId: 's1' })
    await client.send('POST /run', runBody('What is A-7?'))
  }
  return { ...client, folder, record }
}

const session = (evalId: string) => ({ evalId, sessionId: 's1', userId: 'ada' })

test.each([
  ['of today', '/dev/apps/desk/eval-sets', { evalSet: { evalSetId: 'orders', evalCases: [] } }],
  ['before /dev', '/apps/desk/eval_sets/orders', undefined],
  ['with underscores', '/dev/apps/desk/eval_sets/orders', undefined],
])('creates a set beside the agent with the routes %s, and lists it', async (_, path, body) => {
  const { send, folder } = evalServer()
  expect((await send(`POST ${path}`, body)).status).toBe(200)
  expect(readdirSync(folder)).toEqual(['orders.evalset.json'])
  expect((await send('GET /dev/apps/desk/eval-sets')).json()).toEqual({ evalSetIds: ['orders'] })
  expect((await send('GET /apps/desk/eval_sets')).json()).toEqual(['orders'])
  expect((await send('GET /dev/apps/desk/eval_sets/orders/evals')).json()).toEqual([])
  expect((await send(`POST ${path}`, body)).json()).toMatchObject({ errorCode: 'ALREADY_EXISTS' })
})

test('makes a case of a session, and changes and deletes it', async () => {
  const { send, folder, record } = evalServer()
  await record()
  const sets = '/dev/apps/desk/eval-sets/orders'
  await send('POST /dev/apps/desk/eval_sets/orders')
  expect((await send(`POST ${sets}/add-session`, session('lamp'))).status).toBe(200)
  expect((await send(`POST ${sets}/add-session`, session('lamp'))).json()).toMatchObject({
    errorCode: 'ALREADY_EXISTS',
  })
  expect((await send('GET /dev/apps/desk/eval_sets/orders/evals')).json()).toEqual(['lamp'])
  const found = (await send(`GET ${sets}/eval-cases/lamp`)).json()
  expect(found.conversation[0]).toMatchObject({
    userContent: { parts: [{ text: 'What is A-7?' }] },
    finalResponse: { parts: [{ text: 'A lamp.' }] },
    intermediateData: { toolUses: [{ name: 'find', args: { order: 'A-7' } }] },
  })
  found.conversation[0].finalResponse.parts[0].text = 'It is a lamp.'
  expect((await send(`PUT ${sets}/eval-cases/lamp`, { ...found, toolwright: { timeLimitMs: 9 } })).status).toBe(200)
  const [changed] = readEvalSet(readFileSync(join(folder, 'orders.evalset.json'), 'utf8'), 'orders').cases
  expect(changed?.turns?.[0]?.reply).toBe('It is a lamp.')
  expect(changed?.recording?.entries.length).toBeGreaterThan(3) // the page neither gets nor sends it
  expect(changed?.timeLimitMs).toBe(9)
  expect((await send(`DELETE ${sets}/eval-cases/lamp`)).status).toBe(200)
  expect((await send(`DELETE ${sets}/eval-cases/lamp`)).json()).toMatchObject({ errorCode: 'NOT_FOUND' })
})

test('shows no client what only the body of a tool may see', async () => {
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    run: (_, context) => context.requestInput({ key: 'k', message: 'Which?', sealed: 'a sealed secret' }),
  })
  const { send, record, folder } = evalServer({ tools: [ask], steps: [{ calls: [{ name: 'ask' }] }] })
  await record()
  await send('POST /dev/apps/desk/eval_sets/orders')
  await send('POST /dev/apps/desk/eval_sets/orders/add_session', session('asked'))
  expect(readFileSync(join(folder, 'orders.evalset.json'), 'utf8')).toContain('a sealed secret') // a replay needs it
  const shown = await send('GET /dev/apps/desk/eval-sets/orders/eval-cases/asked')
  expect(shown.json()).toMatchObject({ evalId: 'asked' })
  expect(shown.text).not.toContain('a sealed secret')
})

test('runs cases with the metrics of the page, and lists the results', async () => {
  const { send, record, folder } = evalServer()
  await record()
  await send('POST /dev/apps/desk/eval_sets/orders')
  for (const id of ['one', 'two']) await send('POST /dev/apps/desk/eval-sets/orders/add-session', session(id))
  const evalMetrics = [
    { metricName: 'tool_trajectory_avg_score', threshold: 1 },
    { metricName: 'safety_v1', threshold: 0.5 },
  ]
  const run = await send('POST /dev/apps/desk/eval-sets/orders/run', { evalCaseIds: ['two'], evalMetrics })
  expect(run.json()).toEqual({
    runEvalResults: [
      expect.objectContaining({
        evalSetId: 'orders',
        evalId: 'two',
        finalEvalStatus: 3,
        overallEvalMetricResults: [
          expect.objectContaining({ metricName: 'tool_trajectory_avg_score', evalStatus: 1, score: 1, threshold: 1 }),
          expect.objectContaining({ metricName: 'safety_v1', evalStatus: 3 }),
        ],
      }),
    ],
  })
  const actual = run.json().runEvalResults[0].evalMetricResultPerInvocation[0].actualInvocation
  expect(actual.intermediateData.toolUses).toEqual([{ name: 'find', args: { order: 'A-7' } }])
  const older = (await send('POST /apps/desk/eval_sets/orders/run_eval', { evalIds: ['one'], evalMetrics: [] })).json()
  expect(older).toMatchObject([{ evalId: 'one', finalEvalStatus: 1 }])
  const ids = (await send('GET /dev/apps/desk/eval_results')).json()
  expect(ids).toHaveLength(2)
  expect(existsSync(join(folder, '.adk', 'eval_history', `${ids[0]}.evalset_result.json`))).toBe(true)
  const result = (await send(`GET /dev/apps/desk/eval-results/${ids[0]}`)).json()
  expect(result).toMatchObject({ evalSetId: 'orders', evalCaseResults: [{ evalId: 'two' }] })
  expect((await send('GET /dev/apps/desk/metrics-info')).json().metricsInfo).toContainEqual(
    expect.objectContaining({ metricName: 'response_match_score' }),
  )
})

test('keeps the results of two runs that end at the same time, and lists the latest of many', async () => {
  const { send, record, folder } = evalServer()
  await record()
  await send('POST /dev/apps/desk/eval_sets/orders')
  await send('POST /dev/apps/desk/eval-sets/orders/add-session', session('lamp'))
  const history = join(folder, '.adk', 'eval_history')
  mkdirSync(history, { recursive: true })
  for (
    let at = 0;
    at < 1_000;
    at++ // as ADK names them
  )
    writeFileSync(join(history, `desk_zebra_${1_700_000_000 + at}.25.evalset_result.json`), '{}')
  const run = () => send('POST /dev/apps/desk/eval-sets/orders/run', { evalMetrics: [] })
  vi.spyOn(Date, 'now').mockReturnValue(1_800_000_000_000)
  await Promise.all([run(), run()])
  vi.restoreAllMocks()
  const ids: string[] = (await send('GET /dev/apps/desk/eval_results')).json()
  expect(ids).toHaveLength(1_000)
  expect(ids.filter((id) => id.startsWith('desk_orders_'))).toHaveLength(2)
  expect(ids[0]).toBe('desk_zebra_1700000002.25')
})

test('loses no case when sessions are added at the same time', async () => {
  const { send, record } = evalServer()
  await record()
  await send('POST /dev/apps/desk/eval_sets/orders')
  const ids = Array.from({ length: 8 }, (_, at) => `case-${at}`)
  await Promise.all(ids.map((id) => send('POST /dev/apps/desk/eval-sets/orders/add-session', session(id))))
  expect((await send('GET /dev/apps/desk/eval_sets/orders/evals')).json()).toEqual(ids)
})

test.each(['..', '../orders', 'a/../../orders', 'a\\b', '.hidden', 'a..b', 'x'.repeat(300), 'a\u0000b', '-rf', ''])(
  'refuses the name %j for a set and a result, and writes nothing',
  async (name) => {
    const { send, folder } = evalServer()
    const created = await send('POST /dev/apps/desk/eval-sets', { evalSet: { evalSetId: name } })
    expect([created.status, created.json().errorCode]).toEqual([400, 'INVALID_REQUEST'])
    if (name !== '' && name !== '..') {
      const path = encodeURIComponent(name)
      for (const line of [`POST /dev/apps/desk/eval_sets/${path}`, `GET /dev/apps/desk/eval-results/${path}`])
        expect((await send(line)).json()).toMatchObject({ errorCode: 'INVALID_REQUEST' })
    }
    expect(readdirSync(folder)).toEqual([])
  },
)

test('does not read what a link beside the agent leads to', async () => {
  const { send, folder } = evalServer()
  const outside = mkdtempSync(join(tmpdir(), 'toolwright-evals-'))
  onTestFinished(() => rmSync(outside, { recursive: true }))
  const secret = join(outside, 'secret.json')
  writeFileSync(secret, '{"eval_set_id":"secret","eval_cases":[]}')
  symlinkSync(secret, join(folder, 'linked.evalset.json'))
  expect((await send('GET /dev/apps/desk/eval_sets')).json()).toEqual([])
  expect((await send('GET /dev/apps/desk/eval_sets/linked/evals')).status).toBe(404)
})

test('says which set, case, result or session does not exist', async () => {
  const { send } = evalServer()
  await send('POST /dev/apps/desk/eval_sets/orders')
  const lines: [string, object?][] = [
    ['GET /dev/apps/desk/eval_sets/gone/evals'],
    ['GET /dev/apps/desk/eval-sets/orders/eval-cases/gone'],
    ['PUT /dev/apps/desk/eval-sets/orders/eval-cases/gone', { conversation: [] }],
    ['POST /dev/apps/desk/eval-sets/gone/run', { evalMetrics: [] }],
    ['POST /dev/apps/desk/eval-sets/orders/run', { evalCaseIds: ['gone'], evalMetrics: [] }],
    ['POST /dev/apps/desk/eval-sets/gone/add-session', session('x')],
    ['POST /dev/apps/desk/eval-sets/orders/add-session', session('x')],
    ['GET /dev/apps/desk/eval-results/gone'],
    ['GET /dev/apps/gone/eval_sets'],
  ]
  for (const [line, body] of lines) {
    const { status, json } = await send(line, body)
    expect([line, status, json().errorCode]).toEqual([line, 404, 'NOT_FOUND'])
  }
})

test('refuses a case that could not be read again, and leaves the file as it is', async () => {
  const { send, record, folder } = evalServer({ limits: { bodyBytes: 20_000 } })
  await record()
  await send('POST /dev/apps/desk/eval_sets/orders')
  await send('POST /dev/apps/desk/eval-sets/orders/add-session', session('lamp'))
  const before = readFileSync(join(folder, 'orders.evalset.json'), 'utf8')
  const put = (body: object) => send('PUT /dev/apps/desk/eval-sets/orders/eval-cases/lamp', body)
  for (const body of [{ conversation: 'none' }, { conversation: [{}] }, { evalId: 'other', conversation: [] }, {}])
    expect((await put(body)).json()).toMatchObject({ errorCode: 'INVALID_REQUEST' })
  const huge = await put({ conversation: [], more: 'x'.repeat(30_000) })
  expect([huge.status, huge.json().errorCode]).toEqual([413, 'TOO_LARGE'])
  const metrics = [{ metricName: 'safety_v1', threshold: 'high' }]
  const run = await send('POST /dev/apps/desk/eval-sets/orders/run', { evalMetrics: metrics })
  expect([run.status, run.json().errorCode]).toEqual([400, 'INVALID_REQUEST'])
  expect(readFileSync(join(folder, 'orders.evalset.json'), 'utf8')).toBe(before)
})

test('only a server for developers has the routes, and only a principal that may act as any user uses them', async () => {
  const { send } = evalServer({ dev: false })
  for (const path of ['/apps/desk/eval_sets', '/dev/apps/desk/eval-sets'])
    expect((await send(`GET ${path}`)).status).toBe(404)
  const tokens = {
    'token-of-ada-0123456789': 'ada',
    'token-of-operator-0123456789': { userId: 'op', mayActAsAnyUser: true },
  }
  const users = evalServer({ authenticate: bearerTokens(tokens) })
  const create = (as: string) => users.send('POST /dev/apps/desk/eval_sets/orders', undefined, { as })
  expect((await create('token-of-ada-0123456789')).json()).toMatchObject({ errorCode: 'FORBIDDEN' })
  expect(readdirSync(users.folder)).toEqual([])
  expect((await create('token-of-operator-0123456789')).status).toBe(200)
})

test('runs no case that could approve a call where mayAnswer decides who may', async () => {
  const { send, record } = evalServer({ mayAnswer: () => true })
  await record()
  await send('POST /dev/apps/desk/eval-sets/orders')
  for (const [path, body] of [
    ['orders/evaluate', { mode: 'live' }],
    ['orders/evaluate', { mode: 'recorded-tools' }],
    ['orders/run', {}],
  ] as const) {
    const answer = await send(`POST /dev/apps/desk/eval-sets/${path}`, body)
    expect([path, answer.status, answer.text]).toEqual([path, 403, expect.stringContaining('mayAnswer')])
  }
  expect((await send('POST /dev/apps/desk/eval-sets/orders/evaluate', { mode: 'replay' })).status).not.toBe(403)
})

test('without a known agent file there are no sets, and none is written', async () => {
  const { send } = createTestServer({ dev: true })
  expect((await send('GET /dev/apps/desk/eval-sets')).json()).toEqual({ evalSetIds: [] })
  expect((await send('POST /dev/apps/desk/eval_sets/orders')).json()).toMatchObject({ errorCode: 'NOT_FOUND' })
})
