import { tool } from 'toolwright'
import { bearerTokens, type ServerOptions } from 'toolwright/server'
import { expect, test } from 'vitest'
import { createTestServer, runBody, SESSIONS } from '../server.test-kit.ts'

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
