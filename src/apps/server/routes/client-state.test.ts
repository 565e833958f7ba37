// A gate that reads state trusts it: which keys clients may write.
import { LlmAgent, Runner, tool } from 'toolwright'
import { bearerTokens, createServer, type ServerOptions } from 'toolwright/server'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createTestServer } from '../server.test-kit.ts'

const SESSIONS = '/apps/desk/users/eve/sessions'
const KEY = { appName: 'desk', userId: 'eve', sessionId: 's1' }
const message = { newMessage: { role: 'user', parts: [{ text: 'Refund 90000.' }] } }

/** A server whose tool asks above a limit that it reads from state, and a client that is the user eve. */
async function refundServer(options: Partial<ServerOptions> = {}) {
  const refunds: number[] = []
  const refund = tool({
    name: 'refund',
    description: 'Refunds',
    parameters: z.object({ amount: z.number() }),
    requiresConfirmation: ({ amount }, { state }) =>
      amount > Math.max(Number(state.get('user:trusted:limit') ?? 100), Number(state.get('trusted:limit') ?? 100)),
    run: ({ amount }, { state }) => {
      state.set('trusted:refunded', amount)
      refunds.push(amount)
      return { amount }
    },
  })
  const steps = [{ calls: [{ name: 'refund', args: { amount: 90_000 } }] }, 'Done.']
  const tokens = {
    'a-long-random-token-of-eve': 'eve',
    'a-long-token-of-ops': { userId: 'ops', mayActAsAnyUser: true },
  }
  const agent = new LlmAgent({ name: 'clerk', model: scriptedModel(steps), tools: [refund] })
  const runner = new Runner({ appName: 'desk', agent })
  const { send } = createTestServer({ apps: { desk: runner }, authenticate: bearerTokens(tokens), ...options })
  const asEve = (line: string, body?: unknown) => send(line, body, { as: 'a-long-random-token-of-eve' })
  const asOperator = (line: string, body?: unknown) => send(line, body, { as: 'a-long-token-of-ops' })
  await asEve(`POST ${SESSIONS}`, { sessionId: 's1' })
  return { runner, refunds, asEve, asOperator }
}

/** The ways in which a client writes state. Each tries to write the same delta. */
const WAYS: [name: string, line: string, body: (delta: object) => object][] = [
  ['a PATCH', `PATCH ${SESSIONS}/s1`, (stateDelta) => ({ stateDelta })],
  ['stateDelta of /run', 'POST /run', (stateDelta) => ({ ...KEY, ...message, stateDelta })],
  ['state_delta of /run_sse', 'POST /run_sse', (state_delta) => ({ ...KEY, ...message, state_delta })],
  ['the state of a new session', `POST ${SESSIONS}`, (state) => ({ sessionId: 's2', state })],
  ['the state of a new session, in the older form', `POST ${SESSIONS}/s2`, (state) => state],
  [
    'an imported event',
    `POST ${SESSIONS}`,
    (stateDelta) => ({ sessionId: 's2', events: [{ author: 'clerk', timestamp: 1, actions: { stateDelta } }] }),
  ],
]

describe.each(WAYS)('a client that writes trusted state with %s', (_name, line, body) => {
  test.each([
    { 'trusted:limit': 1e9 },
    { 'user:trusted:limit': 1e9 },
    { theme: 'dark', 'trusted:limit': 1e9 },
    { 'temp:trusted:limit': 1e9 },
    { 'trusted:limit': null },
  ])('is refused, and opens no gate: %j', async (delta) => {
    const { asEve, asOperator, refunds } = await refundServer()
    const refused = await asEve(line, body(delta))
    expect(refused.status).toBe(403)
    expect(refused.json()).toMatchObject({ errorCode: 'FORBIDDEN', error: expect.stringContaining('trusted:limit') })
    expect((await asOperator(line, body(delta))).status).toBe(403) // operators write state in their program
    expect((await asEve(`GET ${SESSIONS}/s1`)).json()).toMatchObject({ state: {}, events: [] })
    await asEve('POST /run', { ...KEY, ...message })
    expect(refunds).toEqual([])
  })

  test.each(['derived:limit', 'user:derived:limit'])('may not write the computed value %s', async (key) => {
    const { asEve } = await refundServer({ clientState: { allow: [key] } })
    const refused = await asEve(line, body({ [key]: 1e9 }))
    expect([refused.status, refused.json().error]).toEqual([403, expect.stringContaining('computed values')])
  })

  test('may write other keys', async () => {
    const { asEve } = await refundServer()
    expect((await asEve(line, body({ theme: 'dark', 'user:trust': 1, trusted: 2 }))).status).toBe(200)
    const sessions = (await asEve(`GET ${SESSIONS}`)).json()
    expect(sessions).toContainEqual(expect.objectContaining({ state: { theme: 'dark', 'user:trust': 1, trusted: 2 } }))
  })
})

test('the program writes trusted state, tools write it, and clients read it', async () => {
  const { runner, asEve, refunds } = await refundServer()
  await runner.updateState({ userId: 'eve', sessionId: 's1', stateDelta: { 'user:trusted:limit': 1e6 } })
  expect((await asEve('POST /run', { ...KEY, ...message })).status).toBe(200)
  expect(refunds).toEqual([90_000])
  expect((await asEve(`GET ${SESSIONS}/s1`)).json().state).toEqual({
    'user:trusted:limit': 1e6,
    'trusted:refunded': 90_000,
  })
})

test('clientState.allow is the list of the only keys that clients may write, trusted ones too', async () => {
  const { asEve } = await refundServer({ clientState: { allow: ['theme', 'trusted:nickname'], deny: ['theme'] } })
  const patch = async (stateDelta: object) => (await asEve(`PATCH ${SESSIONS}/s1`, { stateDelta })).status
  expect(await patch({ 'trusted:nickname': 'Eve' })).toBe(200)
  for (const key of ['theme', 'color', 'trusted:limit', 'user:trusted:nickname', 'nickname'])
    expect(await patch({ [key]: 1 }), key).toBe(403)
})

test('clientState.deny takes keys from clients, and trusted ones stay closed', async () => {
  const { asEve } = await refundServer({ clientState: { deny: ['role', 'user:plan'] } })
  const patch = async (stateDelta: object) => (await asEve(`PATCH ${SESSIONS}/s1`, { stateDelta })).status
  for (const key of ['role', 'user:plan', 'trusted:limit']) expect(await patch({ [key]: null }), key).toBe(403)
  for (const key of ['plan', 'user:role', 'theme']) expect(await patch({ [key]: 1 }), key).toBe(200)
})

test.each([{ allow: 'theme' }, { deny: [5] }, { allowed: [] }])(
  'createServer() refuses clientState: %j',
  (clientState) => {
    const agent = new LlmAgent({ name: 'clerk', model: scriptedModel([]) })
    expect(() => createServer({ apps: { desk: agent }, clientState: clientState as never })).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining('clientState') }),
    )
  },
)
