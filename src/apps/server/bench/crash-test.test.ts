import { LlmAgent, type LlmAgentOptions, type ToolContext, tool } from 'toolwright'
import { bearerTokens } from 'toolwright/server'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createTestServer, type TestServerOptions } from '../server.test-kit.ts'

/** Tools that pay, one of which pays again when its call is repeated, and tools that show the payments. */
function bank(options: Partial<LlmAgentOptions> = {}, server: TestServerOptions = {}) {
  const payments: string[] = []
  const pay = (name: string, keyOf: (context: ToolContext) => string, requiresConfirmation = false) =>
    tool({
      name,
      description: 'Pays',
      parameters: z.object({ amount: z.number() }),
      effect: 'idempotent',
      requiresConfirmation,
      run: (_, context) => {
        const key = keyOf(context)
        if (!payments.includes(key)) payments.push(key)
        return 'paid'
      },
    })
  const once = pay('pay_once', ({ idempotencyKey }) => idempotencyKey, true)
  const twice = pay('pay_twice', () => String(payments.length))
  const list = tool({ name: 'payments', description: 'Lists', effect: 'none', run: () => ({ payments }) })
  const log = tool({ name: 'log', description: 'Logs', run: () => ({ payments }) })
  const tools = [once, twice, list, log]
  const agent = new LlmAgent({ name: 'clerk', model: scriptedModel([]), tools, ...options })
  const { send } = createTestServer({ dev: true, apps: { desk: agent }, ...server })
  const crash = async (name: string, more: object = {}, as?: string) => {
    const body = { userId: 'ada', args: { amount: 5 }, outside: { tool: 'payments' }, ...more }
    return await send(`POST /dev/apps/desk/agents/clerk/tools/${name}/crash-test`, body, as ? { as } : {})
  }
  return { crash, payments }
}

test('a crash test says whether what a tool declares is true, with the smallest story that shows it', async () => {
  const { crash } = bank()
  const good = (await crash('pay_once')).json()
  expect(good).toMatchObject({ ok: true, checked: ['effect'], stories: 25 })
  expect(good.text).toMatch(/effect "idempotent" is true in 25 stories/)
  const bad = (await crash('pay_twice')).json()
  expect(bad).toMatchObject({ ok: false, findings: [{ problem: 'repeats-effect' }] })
  expect(bad.text).toMatch(/effect "idempotent" is not true[\s\S]*\n {2}1\. /)
})

test('a crash test that proves nothing, or that no gate of the app would see, is refused', async () => {
  const { crash } = bank()
  const refusals: readonly (readonly [answer: { status: number; text: string }, status: number, message: string])[] = [
    [await crash('pay_once', { outside: { tool: 'log' } }), 400, 'cannot show what has happened'],
    [await crash('pay_once', { args: {} }), 400, 'a plain call failed with INVALID_ARGS'],
    [await crash('log', { args: {} }), 400, 'outside() did not change'],
    [await crash('pai'), 404, 'has no tool'],
    [await bank({ beforeTool: () => undefined }).crash('pay_once'), 400, 'has beforeTool'],
    [await bank({}, { mayAnswer: () => true }).crash('pay_once'), 403, 'mayAnswer'],
  ]
  for (const [{ status, text }, expected, message] of refusals)
    expect([status, text]).toEqual([expected, expect.stringContaining(message)])
})

test('only a client that may act as any user starts a crash test', async () => {
  const operator = { userId: 'op', mayActAsAnyUser: true }
  const authenticate = bearerTokens({ 'token-of-ada-012345': 'ada', 'token-of-op-0123456': operator })
  const { crash, payments } = bank({}, { authenticate })
  expect((await crash('pay_once', {}, 'token-of-ada-012345')).status).toBe(403)
  expect(payments).toEqual([])
  expect((await crash('pay_once', {}, 'token-of-op-0123456')).status).toBe(200)
  expect(payments.length).toBeGreaterThan(10) // its body really runs
})
