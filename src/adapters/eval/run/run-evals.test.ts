import { confirm, InMemorySessionService, LlmAgent, Runner, retry, tool } from 'toolwright'
import type { Check, EvalCase } from 'toolwright/eval'
import { defineEval, judge, passPower, readEvalSet, recordCase, rouge1, runEvals, saveCase } from 'toolwright/eval'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

let refunded: string[] = []
const refund = confirm(
  tool({
    name: 'refund',
    description: 'Refunds an order',
    parameters: z.object({ order: z.string() }),
    run: ({ order }, { state }) => {
      refunded.push(order)
      state.set('refunded', order)
      return { refunded: order }
    },
  }),
)
/** Refunds the order that the user names, and says what the result was. */
const rules = () =>
  scriptedModel(({ contents }) => {
    const last = contents.at(-1)?.parts[0]
    if (!last?.functionResponse)
      return { calls: [{ name: 'refund', args: { order: last?.text?.split(' ')[1] ?? '' } }] }
    return last.functionResponse.response.error ? 'That was denied.' : 'Order A-7 is refunded.'
  })
const desk = () => new LlmAgent({ name: 'desk', model: rules(), tools: [refund] })

async function run(one: Omit<EvalCase, 'id'>, options: object = {}) {
  refunded = []
  const set = defineEval({ id: 'set', agent: desk(), cases: [{ id: 'case', ...one }] })
  const { cases } = await runEvals({ sets: [set], ...options })
  return cases[0]?.trials[0]
}
const ask = { user: 'Refund A-7' }
const approved = [{ tool: 'refund', approve: true as const }]

test('a case passes when the calls, the answer and the state are as expected', async () => {
  const trial = await run({
    turns: [{ ...ask, calls: [{ name: 'refund', args: { order: /^A-\d$/ } }], reply: 'Order A-7 is refunded' }],
    answers: approved,
    finalState: { refunded: 'A-7' },
    checks: [
      { requests: [{ tool: 'refund', answer: 'approved' }] },
      { limits: { calls: 1, modelCalls: 2, timeMs: 60_000 } },
    ],
  })
  expect(trial?.checks.map(({ name, status }) => [name, status])).toEqual([
    ['turn 1: calls', 'PASSED'],
    ['turn 1: similar', 'PASSED'],
    ['state', 'PASSED'],
    ['requests', 'PASSED'],
    ['limits', 'PASSED'],
  ])
  expect(refunded).toEqual(['A-7'])
})

test('a request without an answer is denied, and nothing is refunded', async () => {
  const trial = await run({ turns: [ask], checks: [{ contains: 'refunded' }] })
  expect(trial).toMatchObject({ status: 'FAILED', reply: 'That was denied.' })
  expect(refunded).toEqual([])
})

test.each<[string, Check, 'PASSED' | 'FAILED' | 'NOT_EVALUATED']>([
  ['exact calls', { calls: [{ name: 'refund' }] }, 'PASSED'],
  ['a missing call', { calls: [] }, 'FAILED'],
  ['other arguments', { calls: [{ name: 'refund', args: { order: 'A-8' } }] }, 'FAILED'],
  [
    'arguments with a matcher',
    { calls: [{ name: 'refund', args: { order: (id: unknown) => id === 'A-7' } }] },
    'PASSED',
  ],
  ['calls in order', { calls: [], match: 'in-order' }, 'PASSED'],
  ['calls in any order', { calls: [{ name: 'gone' }], match: 'any-order' }, 'FAILED'],
  ['a call that is forbidden', { never: 'refund' }, 'FAILED'],
  ['a call that is allowed with other arguments', { never: { name: 'refund', args: { order: 'B' } } }, 'PASSED'],
  ['a text', { contains: ['order', 'REFUNDED'] }, 'PASSED'],
  ['a pattern', { pattern: '^Order [A-Z]-\\d' }, 'PASSED'],
  ['another pattern', { pattern: /never/ }, 'FAILED'],
  ['a similar text', { similar: 'Something else entirely' }, 'FAILED'],
  ['JSON', { json: { a: 1 } }, 'FAILED'],
  ['artifacts', { artifacts: ['a.txt'] }, 'FAILED'],
  ['a limit', { limits: { calls: 0 } }, 'FAILED'],
  ['a limit on tokens that nobody counted', { limits: { tokens: 1 } }, 'NOT_EVALUATED'],
  [
    'a check that throws',
    {
      name: 'own',
      check: () => {
        throw new Error('Oops.')
      },
    },
    'NOT_EVALUATED',
  ],
])('checks %s', async (_, check, status) => {
  const trial = await run({ turns: [ask], answers: approved, checks: [check] })
  expect(trial?.checks.map((one) => one.status)).toEqual([status])
  expect(trial?.status).toBe(status)
})

test.each([
  ['votes for it', ['x\nVERDICT: YES', 'x\nVERDICT: YES', 'x\nVERDICT: NO'], 'PASSED'],
  ['votes against it', ['x\nVERDICT: NO', 'x\nVERDICT: NO', 'x\nVERDICT: YES'], 'FAILED'],
  ['answers nonsense', ['maybe', '', '{"verdict":"YES"}'], 'NOT_EVALUATED'],
  ['votes once and fails twice', ['x\nVERDICT: YES'], 'NOT_EVALUATED'],
])('a judge that %s', async (_, answers, status) => {
  const check = judge({ model: scriptedModel(answers), rubric: 'It is polite.', samples: 3 })
  expect((await run({ turns: [ask], checks: [check] }))?.status).toBe(status)
})

test('a simulated user goes on until its plan is done, and at most 20 times', async () => {
  const scenario = { startingPrompt: 'Refund A-7', conversationPlan: 'Then refund A-8.' }
  const checks: Check[] = [{ calls: [{ name: 'refund' }, { name: 'refund' }] }]
  const userModel = scriptedModel(['Refund A-8', '</finished>'])
  expect((await run({ scenario, checks, answers: approved }, { userModel }))?.status).toBe('PASSED')
  expect(refunded).toEqual(['A-7', 'A-8'])
  await run({ scenario, checks, answers: approved }, { userModel: scriptedModel(() => 'Refund A-9') })
  expect(refunded).toHaveLength(20)
})

test('an evaluation that is stopped starts no further case, and timers of the process have their turn before', async () => {
  let asked = 0
  const model = scriptedModel(() => `Hello ${asked++}.`)
  const agent = new LlmAgent({ name: 'desk', model })
  const cases = Array.from({ length: 5_000 }, (_, at) => ({ id: `c${at}`, turns: [ask] }))
  const signal = AbortSignal.timeout(100)
  const done = await runEvals({ sets: [defineEval({ id: 'a', agent, cases })], signal })
  expect(asked).toBeLessThan(5_000)
  expect(done.cases).toHaveLength(5_000)
  expect(done.cases.at(-1)).toMatchObject({ status: 'ERROR', trials: [{ calls: 0 }] })
})

test('a time limit that no timer can have is none, and long findings are cut', async () => {
  const check = { name: 'long', check: () => ({ status: 'FAILED' as const, detail: 'x'.repeat(100_000) }) }
  const found = await run({ turns: [ask], checks: [check], timeLimitMs: 1e12 })
  expect(found).toMatchObject({ status: 'FAILED' })
  expect(found?.checks.find(({ name }) => name === 'long')?.detail).toHaveLength(5_003)
})

test('a hanging case ends at its time limit, and the others run', async () => {
  const agent = {
    name: 'hangs',
    run: async function* () {
      await new Promise(() => {})
    },
  }
  const hanging = defineEval({ id: 'a', agent, cases: [{ id: 'hangs', turns: [ask], timeLimitMs: 50 }] })
  const other = defineEval({ id: 'b', agent: desk(), cases: [{ id: 'ok', turns: [ask], checks: [{ never: 'gone' }] }] })
  const { cases } = await runEvals({ sets: [hanging, other] })
  expect(cases.map(({ status }) => status)).toEqual(['ERROR', 'PASSED'])
  expect(cases[0]?.trials[0]?.error).toContain('longer than 50 ms')
})

test('injected faults are seen by policies, and a seed repeats them', async () => {
  let attempts = 0
  const look = tool({ name: 'look', description: 'Looks', effect: 'none', run: () => ({ at: ++attempts }) })
  const agent = () =>
    new LlmAgent({
      name: 'desk',
      model: scriptedModel([{ calls: [{ name: 'look' }] }, ({ contents }) => JSON.stringify(contents.at(-1))]),
      tools: [retry(look, { attempts: 2, delayMs: 0 })],
    })
  const inject = [{ tool: 'look', error: 'Connection lost.', probability: 0.5 }]
  const outcomes = async (seed: string): Promise<string[]> => {
    const replies: string[] = []
    for (let at = 0; at < 8; at++) {
      const cases = [{ id: `c${at}`, turns: [ask], inject, checks: [{ never: 'x' }] }]
      const { cases: done } = await runEvals({ sets: [{ id: 's', agent: agent(), cases }], seed })
      replies.push(done[0]?.trials[0]?.reply.includes('Connection lost.') ? 'failed' : 'ok')
    }
    return replies
  }
  const first = await outcomes('1')
  expect(new Set(first)).toEqual(new Set(['failed', 'ok']))
  expect(await outcomes('1')).toEqual(first)
  expect(attempts).toBeGreaterThan(0)
})

async function recorded() {
  const sessionService = new InMemorySessionService()
  const runner = new Runner({ appName: 'shop', agent: desk(), sessionService })
  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' }
  const { pending } = await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Refund A-7' })
  const answer = pending.map((request) => ({
    functionResponse: { id: request.id, name: 'adk_request_confirmation', response: { confirmed: true } },
  }))
  await runner.complete({ userId: 'ada', sessionId: 's1', message: answer })
  const { entries } = (await sessionService.readLog(key)) ?? { entries: [] }
  const session = await sessionService.getSession(key)
  return recordCase({ key, entries, state: { ...session?.state } }, { target: desk(), id: 'refund' })
}

test('a recorded case has the answers of its session, and replays from a file', async () => {
  const text = saveCase(await recorded(), { text: undefined, name: 'a.json', setId: 'desk' })
  const set = readEvalSet(text, 'a.json')
  expect(set.cases[0]?.answers).toEqual([
    { tool: 'refund', kind: 'confirmation', args: { order: 'A-7' }, once: true, approve: true },
  ])
  refunded = []
  const replayed = await runEvals({ sets: [set], target: desk(), mode: 'replay' })
  expect(replayed.cases[0]).toMatchObject({ status: 'PASSED' })
  expect(refunded).toEqual([])
  const live = await runEvals({ sets: [set], target: desk() })
  expect(live.cases[0]).toMatchObject({ status: 'PASSED' })
  expect(refunded).toEqual(['A-7'])
})

test('recorded tools answer calls of the recording, and an unmatched call fails the case', async () => {
  const set = readEvalSet(saveCase(await recorded(), { text: undefined, name: 'a.json', setId: 'desk' }), 'a.json')
  refunded = []
  const run = (user: string) => {
    const cases = set.cases.map((one) => ({ ...one, turns: [{ user }], answers: [{ approve: true as const }] }))
    return runEvals({ sets: [{ ...set, cases }], target: desk(), mode: 'recorded-tools' })
  }
  expect((await run('Refund A-7')).cases[0]?.trials[0]).toMatchObject({
    status: 'PASSED',
    reply: 'Order A-7 is refunded.',
  })
  const { cases } = await run('Refund A-8')
  expect(cases[0]?.trials[0]?.checks).toContainEqual({
    name: 'recorded tools',
    status: 'FAILED',
    detail: 'no recorded result of refund({"order":"A-8"})',
  })
  expect(refunded).toEqual([])
})

const adk = (snake: boolean) => {
  const part = { text: 'Refund A-7', function_call: null }
  const call = { id: 'c', name: 'refund', args: { order_id: 'A-7' } }
  return snake
    ? {
        eval_set_id: 'adk',
        creation_timestamp: 1,
        eval_cases: [
          {
            eval_id: 'one',
            conversation: [
              {
                user_content: { role: 'user', parts: [part] },
                final_response: { role: 'model', parts: [{ text: 'Done.' }] },
                intermediate_data: { tool_uses: [call], tool_responses: [] },
              },
            ],
            session_input: { app_name: 'shop', user_id: 'ada', state: { some_key: 1 } },
            own_field: 7,
          },
        ],
      }
    : {
        evalSetId: 'adk',
        evalCases: [
          {
            evalId: 'one',
            conversation: [
              {
                userContent: { role: 'user', parts: [{ text: 'Refund A-7' }] },
                finalResponse: { role: 'model', parts: [{ text: 'Done.' }] },
                intermediateData: {
                  invocationEvents: [{ author: 'desk', content: { parts: [{ functionCall: call }] } }],
                },
              },
            ],
            sessionInput: { appName: 'shop', userId: 'ada', state: { some_key: 1 } },
          },
        ],
      }
}

test.each([true, false])('reads sets of ADK in snake case: %s', (snake) => {
  const { cases } = readEvalSet(JSON.stringify(adk(snake)), 'a.evalset.json')
  expect(cases).toEqual([
    {
      id: 'one',
      turns: [{ user: 'Refund A-7', calls: [{ name: 'refund', args: { order_id: 'A-7' } }], reply: 'Done.' }],
      session: { userId: 'ada', state: { some_key: 1 } },
    },
  ])
})

test('a saved set keeps unknown members and the case of its names', async () => {
  const added = { id: 'two', turns: [{ user: 'Hello' }] }
  const snake = JSON.parse(saveCase(added, { text: JSON.stringify(adk(true)), name: 'a', setId: 'x' }))
  expect(snake).toMatchObject({ creation_timestamp: 1, eval_cases: [{ own_field: 7 }, { eval_id: 'two' }] })
  const camel = JSON.parse(saveCase(added, { text: JSON.stringify(adk(false)), name: 'a', setId: 'x' }))
  expect(camel.evalCases[1].conversation[0].userContent.parts).toEqual([{ text: 'Hello' }])
  const replaced = saveCase(
    { ...added, id: 'one' },
    { text: JSON.stringify(adk(true)), name: 'a', setId: 'x', replace: true },
  )
  expect(JSON.parse(replaced).eval_cases).toMatchObject([{ eval_id: 'one', own_field: 7 }])
  expect(() => saveCase({ ...added, id: 'one' }, { text: JSON.stringify(adk(true)), name: 'a', setId: 'x' })).toThrow(
    'already',
  )
})

const file = (...cases: object[]) => JSON.stringify({ eval_set_id: 's', eval_cases: cases })
const turn = { user_content: { parts: [{ text: 'Hi' }] } }
test.each([
  ['broken JSON', '{"eval_set_id": ', 'is not valid JSON'],
  ['a list', '[]', 'must hold an object'],
  ['another file', '{}', 'needs "eval_set_id"'],
  [
    'duplicate ids',
    file({ eval_id: 'a', conversation: [turn] }, { eval_id: 'a', conversation: [turn] }),
    'two cases with the id "a"',
  ],
  ['no id', file({ conversation: [turn] }), 'has no id'],
  ['no conversation', file({ eval_id: 'a' }), 'either turns or a scenario'],
  ['a turn without a message', file({ eval_id: 'a', conversation: [{}] }), 'without "user_content"'],
  [
    'a misspelled check',
    file({ eval_id: 'a', conversation: [turn], toolwright: { checks: [{ contain: 'x' }] } }),
    'has none of calls',
  ],
  [
    'a recording of another version',
    file({ eval_id: 'a', conversation: [turn], toolwright: { recording: { version: 99 } } }),
    'has version 99, and this version of toolwright reads version 1',
  ],
])('refuses a file with %s', (_, text, message) => {
  expect(() => readEvalSet(text, 'a.evalset.json')).toThrow(message)
})

test('reads 10,000 cases', { timeout: 60_000 }, () => {
  const cases = Array.from({ length: 10_000 }, (_, at) => ({ eval_id: `c${at}`, conversation: [turn] }))
  expect(readEvalSet(file(...cases), 'a').cases).toHaveLength(10_000)
})

test('pass^k is the share of cases whose k runs would all pass', () => {
  const cases = [
    { trials: 4, passed: 4 },
    { trials: 4, passed: 2 },
  ]
  expect(passPower(cases, 1)).toBe(0.75)
  expect(passPower(cases, 2)).toBeCloseTo((1 + 1 / 6) / 2)
  expect(passPower(cases, 4)).toBe(0.5)
  expect(passPower(cases, 5)).toBeUndefined()
  expect(passPower([], 1)).toBeUndefined()
})

test('ROUGE-1 counts shared words', () => {
  expect(rouge1('The cat sat.', 'the cat sat')).toBe(1)
  expect(rouge1('the the the', 'the cat')).toBeCloseTo(0.4)
  expect(rouge1('', 'word')).toBe(0)
  expect(rouge1('Müller zahlt 5', 'müller zahlt 5')).toBe(1)
})
