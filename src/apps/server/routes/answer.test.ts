import { longRunning, tool } from 'toolwright'
import { bearerTokens } from 'toolwright/server'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { createTestServer, runBody, SESSIONS, type TestServerOptions } from '../server.test-kit.ts'

const refund = vi.fn(({ amount }: { amount: number }) => ({ refunded: amount }))

/** A server whose session `s1` waits for one request. */
async function waiting(options: Partial<TestServerOptions> = {}) {
  const pay = tool({
    name: 'refund',
    description: 'Refunds',
    parameters: z.object({ amount: z.number() }),
    requiresConfirmation: true,
    allowEditedArgs: true,
    confirmationHint: ({ amount }) => `Refund ${amount} EUR?`,
    run: refund,
  })
  onTestFinished(() => refund.mockClear() && undefined)
  const steps = [{ calls: [{ name: options.tools ? 'ask' : 'refund', args: { amount: 250 } }] }, 'Done.']
  const client = createTestServer({ tools: [pay], steps, ...options })
  const { send } = client
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  await send('POST /run', runBody('Go'))
  const [request] = (await send('GET /apps/desk/users/ada/pending')).json()
  const path = `POST ${SESSIONS}/s1/pending/${request.id}`
  return { ...client, request, answer: (body?: unknown) => send(path, body), path }
}

const resultOf = (events: { content?: { parts: { functionResponse?: { response: unknown } }[] } }[]): unknown =>
  events.map(({ content }) => content?.parts[0]?.functionResponse?.response).find(Boolean)

test('approves a call with one request, and answers with the events that follow [DG-14]', async () => {
  const { answer, send } = await waiting()
  const { status, json } = await answer({ confirmed: true })
  expect(status).toBe(200)
  expect(resultOf(json())).toEqual({ refunded: 250 })
  expect(json().at(-1).content.parts).toEqual([{ text: 'Done.' }])
  expect((await send('GET /apps/desk/users/ada/pending')).json()).toEqual([])
})

test('approves edited arguments, and records the question about them', async () => {
  const { answer, send } = await waiting()
  const events = (await answer({ confirmed: true, args: { amount: 200 } })).json()
  expect(resultOf(events)).toMatchObject({ refunded: 200 })
  expect((await send(`GET ${SESSIONS}/s1`)).text).toContain('Refund 200 EUR?')
})

test('denies a call with a reason that the model reads [DG-14]', async () => {
  const { answer } = await waiting()
  const { json } = await answer({ confirmed: false, reason: 'Too much.' })
  expect(JSON.stringify(resultOf(json()))).toContain('Too much.')
  expect(refund).not.toHaveBeenCalled()
})

test('gives the same events again for the same answer, and refuses another one', async () => {
  const { answer } = await waiting()
  const first = (await answer({ confirmed: true })).json()
  const again = await answer({ confirmed: true })
  expect(again.json()).toEqual(first)
  const other = await answer({ confirmed: false })
  expect([other.status, other.json().errorCode]).toEqual([409, 'ALREADY_ANSWERED'])
  expect(refund).toHaveBeenCalledTimes(1)
})

test.each([
  undefined,
  null,
  true,
  'yes',
  [],
  {},
  { confirmed: 'true' },
  { confirmed: 1 },
  { confirmed: null },
  { approved: true },
  { confirmed: true, arg: { amount: 1 } },
  { confirmed: true, args: 5 },
  { confirmed: true, args: [] },
  { confirmed: true, reason: 'ok' },
  { confirmed: false, args: { amount: 1 } },
  { confirmed: false, reason: 5 },
  { confirmed: true, args: { amount: 'x' } },
  { confirmed: true, args: { amount: 5, curency: 'EUR' } },
])('refuses %j as the answer to a confirmation: the request stays open', async (body) => {
  const { answer, send } = await waiting()
  const { status, json } = await answer(body)
  expect([status, json().errorCode]).toEqual([400, 'INVALID_REQUEST'])
  expect((await send('GET /apps/desk/users/ada/pending')).json()).toHaveLength(1)
  expect(refund).not.toHaveBeenCalled()
  expect((await answer({ confirmed: true })).status).toBe(200)
})

test('answers and declines a request for input', async () => {
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    run: (_, context) => context.requestInput({ key: 'colour', message: 'Which colour?', schema: z.string() }),
  })
  const answered = await waiting({ tools: [ask] })
  for (const wrong of [{}, { declined: 'yes' }, { result: 5 }, { result: 'red', reason: 'x' }])
    expect((await answered.answer(wrong)).status).toBe(400)
  expect(resultOf((await answered.answer({ result: 'red' })).json())).toEqual({ result: 'red' })
  const declined = await waiting({ tools: [ask] })
  const { status, json } = await declined.answer({ declined: true, reason: 'Not now.' })
  expect([status, JSON.stringify(json()).includes('Not now.')]).toEqual([200, true])
})

test('takes the id of the request only: a call id answers nothing', async () => {
  const { send, request, answer } = await waiting()
  for (const body of [
    {},
    { confirmed: 'true' },
    { declined: true },
    { confirmed: true },
    { confirmed: true, hint: 'x' },
  ]) {
    const { status, json } = await send(`POST ${SESSIONS}/s1/pending/${request.functionCallId}`, body)
    expect([status, json().error]).toEqual([404, expect.stringContaining(request.id)])
  }
  expect((await answer({ confirmed: true })).status).toBe(200)
  expect(refund).toHaveBeenCalledTimes(1)
})

test('tells an approver who answers under their own name whose path to use', async () => {
  const { send, request, answer } = await waiting()
  for (const end of ['', '/preview']) {
    const path = `POST /apps/desk/users/boss/sessions/s1/pending/${request.id}${end}`
    const { status, json } = await send(path, { confirmed: true, args: { amount: 1 } })
    expect([status, json().error]).toEqual([404, expect.stringContaining('under its own userId and sessionId')])
  }
  expect(refund).not.toHaveBeenCalled()
  expect((await answer({ confirmed: true })).status).toBe(200)
})

test('sends the result of a long-running call', async () => {
  const ask = longRunning(tool({ name: 'ask', description: 'Asks', run: () => ({ ticket: 7 }) }))
  const { answer, send } = await waiting({ tools: [ask] })
  for (const wrong of ['done', { confirmed: false }, { declined: true }]) expect((await answer(wrong)).status).toBe(400)
  expect((await answer({ shipped: true })).json()).toMatchObject([{ content: { parts: [{ text: 'Done.' }] } }])
  expect((await send(`GET ${SESSIONS}/s1`)).text).toContain('"response":{"shipped":true}')
})

test('answers no request of another user, of another session, or that does not exist', async () => {
  const authenticate = bearerTokens({ 'token-of-ada-0001': { userId: 'ada' }, 'token-of-eve-0001': { userId: 'eve' } })
  const steps = [{ calls: [{ name: 'refund', args: { amount: 1 } }] }, 'Done.']
  const pay = tool({
    name: 'refund',
    description: 'Refunds',
    requiresConfirmation: true,
    run: () => refund({ amount: 1 }),
  })
  const { send } = createTestServer({ tools: [pay], steps, authenticate })
  const ada = { as: 'token-of-ada-0001' }
  const eve = { as: 'token-of-eve-0001' }
  await send(`POST ${SESSIONS}`, { sessionId: 's1' }, ada)
  await send(`POST ${SESSIONS}`, { sessionId: 's2' }, ada)
  await send('POST /apps/desk/users/eve/sessions', { sessionId: 's1' }, eve)
  await send('POST /run', runBody('Go'), ada)
  const [{ id }] = (await send('GET /apps/desk/users/ada/pending', undefined, ada)).json()
  const yes = { confirmed: true }
  expect((await send(`POST ${SESSIONS}/s1/pending/${id}`, yes, eve)).status).toBe(403)
  for (const [path, who] of [
    [`/apps/desk/users/eve/sessions/s1/pending/${id}`, eve],
    [`${SESSIONS}/s2/pending/${id}`, ada],
    [`${SESSIONS}/s3/pending/${id}`, ada],
    [`${SESSIONS}/s1/pending/other`, ada],
  ] as const)
    expect([path, (await send(`POST ${path}`, yes, who)).status]).toEqual([path, 404])
  expect(refund).not.toHaveBeenCalled()
  expect((await send(`POST ${SESSIONS}/s1/pending/${id}`, yes, ada)).status).toBe(200)
  expect(refund).toHaveBeenCalledTimes(1)
  refund.mockClear()
})

test('counts an answer as a run of its principal', async () => {
  const { answer } = await waiting({ limits: { concurrentRuns: 1 } })
  const { promise, resolve } = Promise.withResolvers<void>()
  refund.mockImplementationOnce((async ({ amount }: { amount: number }) => {
    await promise
    return { refunded: amount }
  }) as unknown as typeof refund) // the tool awaits it
  const first = answer({ confirmed: true })
  await vi.waitFor(() => expect(refund).toHaveBeenCalled())
  expect((await answer({ confirmed: true })).status).toBe(429)
  resolve()
  expect((await first).status).toBe(200)
})
