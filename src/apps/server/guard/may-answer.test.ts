import { tool } from 'toolwright'
import { bearerTokens, type ServerOptions } from 'toolwright/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createTestServer, runBody, SESSIONS, type TestServerOptions } from '../server.test-kit.ts'

const ADA = { as: 'a-long-token-of-ada' }
const BOSS = { as: 'a-long-token-of-boss' }

/** Ada's session waits for an approval. `paid` counts what was paid. */
async function waiting(mayAnswer: ServerOptions['mayAnswer']) {
  const paid: number[] = []
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => paid.push(1) })
  const tokens = { [ADA.as]: 'ada', [BOSS.as]: { userId: 'boss', mayActAsAnyUser: true } }
  const steps = [{ calls: [{ name: 'pay' }] }, 'Done.']
  const { send } = createTestServer({ tools: [pay], steps, authenticate: bearerTokens(tokens), mayAnswer })
  await send(`POST ${SESSIONS}`, { sessionId: 's1' }, ADA)
  await send('POST /run', runBody('Pay.'), ADA)
  const [request] = (await send('GET /apps/desk/users/ada/pending', undefined, ADA)).json()
  const response = { confirmed: true }
  const part = (id: string) => [{ functionResponse: { id, name: 'adk_request_confirmation', response } }]
  const ways = [
    (who: typeof ADA) => send(`POST ${SESSIONS}/s1/pending/${request.id}`, response, who),
    (who: typeof ADA) => send('POST /run', runBody(part(request.id)), who),
    (who: typeof ADA) => send('POST /run_sse', runBody(part(request.id)), who),
    (who: typeof ADA) => send('POST /run', runBody(part(request.functionCallId)), who),
  ]
  return { paid, ways, send }
}

const onlyBoss: ServerOptions['mayAnswer'] = ({ kind }, { userId }) => kind !== 'confirmation' || userId === 'boss'

test('a user cannot approve her own payment where others approve', async () => {
  const { paid, ways } = await waiting(onlyBoss)
  for (const answer of ways) {
    const { status, text } = await answer(ADA)
    expect([status, text]).toEqual([403, expect.stringContaining('You may not answer request')])
  }
  expect(paid).toEqual([])
  expect((await ways[0]?.(BOSS))?.status).toBe(200)
  expect(paid).toEqual([1])
})

test.each([0, 1, 2, 3])('the approver approves, once, in every form: %i', async (at) => {
  const { paid, ways } = await waiting(onlyBoss)
  expect((await ways[at]?.(BOSS))?.status).toBe(200)
  expect((await ways[at]?.(BOSS))?.status).toBe(404) // no request is pending any more
  expect(paid).toEqual([1])
})

test.each<[string, ServerOptions['mayAnswer']]>([
  ['throws', () => Promise.reject(new Error('down'))],
  ['returns anything but true', (() => 'yes') as unknown as ServerOptions['mayAnswer']],
])('a rule that %s allows no answer', async (_, mayAnswer) => {
  const { paid, ways } = await waiting(mayAnswer)
  expect((await ways[0]?.(BOSS))?.status).toBe(403)
  expect(paid).toEqual([])
})

test('messages without answers need no rule, and without the option users answer their own requests', async () => {
  const { send } = await waiting(onlyBoss)
  expect((await send(`POST ${SESSIONS}`, { sessionId: 's2' }, ADA)).status).toBe(200)
  const { paid, ways } = await waiting(undefined)
  expect((await ways[1]?.(ADA))?.status).toBe(200)
  expect(paid).toEqual([1])
})

test('an approver lists the requests of all users, and a user does not', async () => {
  const { send } = await waiting(onlyBoss)
  expect((await send('GET /apps/desk/pending', undefined, BOSS)).json()).toMatchObject([{ userId: 'ada', tool: 'pay' }])
  expect((await send('GET /apps/desk/pending', undefined, ADA)).status).toBe(403)
})

const upTo100: ServerOptions['mayAnswer'] = ({ args }, { userId }) => userId === 'boss' || Number(args.amount) <= 100

/** Ada's session waits for the approval of a refund of 50, whose arguments may be edited. */
async function waitingForRefund(mayAnswer = upTo100) {
  const refunds: number[] = []
  const refund = tool({
    name: 'refund',
    description: 'Refunds',
    parameters: z.object({ amount: z.number() }),
    requiresConfirmation: true,
    allowEditedArgs: true,
    run: ({ amount }) => refunds.push(amount),
  })
  const steps = [{ calls: [{ name: 'refund', args: { amount: 50 } }] }, 'Done.']
  const { send, pending } = await startSession([refund], steps, mayAnswer)
  const [request] = await pending()
  const part = (id: string, response: unknown) => [{ functionResponse: { id, name: 'refund', response } }]
  const ways = [
    (who: typeof ADA, answer: object) => send(`POST ${SESSIONS}/s1/pending/${request?.id}`, answer, who),
    (who: typeof ADA, answer: object) => send('POST /run', runBody(part(request?.id ?? '', answer)), who),
    (who: typeof ADA, answer: object) =>
      send('POST /run_sse', runBody(part(request?.functionCallId ?? '', answer)), who),
    (who: typeof ADA, answer: object) =>
      send('POST /run', runBody(part(request?.id ?? '', { toolConfirmation: JSON.stringify(answer) })), who),
  ]
  return { refunds, ways, pending }
}

async function startSession(
  tools: NonNullable<TestServerOptions['tools']>,
  steps: NonNullable<TestServerOptions['steps']>,
  mayAnswer: ServerOptions['mayAnswer'],
) {
  const tokens = { [ADA.as]: 'ada', [BOSS.as]: { userId: 'boss', mayActAsAnyUser: true } }
  const { send } = createTestServer({ tools, steps, authenticate: bearerTokens(tokens), mayAnswer })
  await send(`POST ${SESSIONS}`, { sessionId: 's1' }, ADA)
  await send('POST /run', runBody('Go.'), ADA)
  const pending = async (): Promise<{ id: string; kind: string; functionCallId: string }[]> =>
    (await send('GET /apps/desk/users/ada/pending', undefined, ADA)).json()
  return { send, pending }
}

test.each([0, 1, 2, 3])('a user who may refund 100 cannot edit a refund of 50 to 9000: %i', async (at) => {
  const { refunds, ways, pending } = await waitingForRefund()
  const edited = { confirmed: true, args: { amount: 9000 } }
  expect((await ways[at]?.(ADA, edited))?.status).toBe(403)
  expect(await pending()).toHaveLength(1)
  expect((await ways[at]?.(BOSS, edited))?.status).toBe(200)
  expect(refunds).toEqual([9000])
})

test.each([0, 1, 2, 3])('a user who may refund 100 edits a refund of 50 to 70: %i', async (at) => {
  const { refunds, ways } = await waitingForRefund()
  expect((await ways[at]?.(ADA, { confirmed: true, args: { amount: 70 } }))?.status).toBe(200)
  expect(refunds).toEqual([70])
})

test('a rule that changes the request changes neither the request nor the edited arguments', async () => {
  const { refunds, ways } = await waitingForRefund((request) => {
    Object.assign(request, { id: 'another' })
    Object.assign(request.args, { amount: 1 })
    return true
  })
  expect((await ways[1]?.(ADA, { confirmed: true, args: { amount: 70 } }))?.status).toBe(200)
  expect(refunds).toEqual([70])
})

/** Ada's session waits for the approval of a job. `whileChecked` runs while an answer of Ada is checked. */
async function waitingForJob(whileChecked: () => Promise<unknown>) {
  const job = tool({
    name: 'job',
    description: 'Works',
    requiresConfirmation: true,
    isLongRunning: true,
    run: () => ({ ticket: 7 }),
  })
  const steps = [{ calls: [{ name: 'job' }] }, 'Started.', 'Done.']
  const { send, pending } = await startSession([job], steps, async ({ kind }, { userId }) => {
    if (userId === 'ada') await whileChecked()
    return userId === 'boss' || kind === 'confirmation'
  })
  const [request] = await pending()
  const approve = (who: typeof ADA) => send(`POST ${SESSIONS}/s1/pending/${request?.id}`, { confirmed: true }, who)
  const part = (response: object) => [{ functionResponse: { id: request?.functionCallId, name: 'job', response } }]
  return { approve, sendByCall: (response: object) => send('POST /run', runBody(part(response)), ADA), pending }
}

test('an answer under the id of a call is not taken for the result of the call, which its sender may not send', async () => {
  const { approve, sendByCall, pending } = await waitingForJob(() => approve(BOSS))
  expect((await sendByCall({ forged: 'result' })).status).toBe(409)
  expect(await pending()).toMatchObject([{ kind: 'longRunning' }]) // the result is still awaited
})

test('an answer under the id of a call approves the call', async () => {
  const { sendByCall, pending } = await waitingForJob(async () => {})
  expect((await sendByCall({ confirmed: true })).status).toBe(200)
  expect(await pending()).toMatchObject([{ kind: 'longRunning' }])
})

test('a message that answers one request many times is refused before the rule is asked again', async () => {
  let asked = 0
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ({}) })
  const { send, pending } = await startSession([pay], [{ calls: [{ name: 'pay' }] }, 'Done.'], () => ++asked > 0)
  const [request] = await pending()
  const ids = [request?.id, request?.functionCallId, request?.id]
  const parts = ids.map((id) => ({ functionResponse: { id, name: 'pay', response: { confirmed: true } } }))
  expect((await send('POST /run', runBody(parts), ADA)).status).toBe(400)
  expect(asked).toBe(1)
})
