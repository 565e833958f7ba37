import {
  type AuthConfig,
  type Event,
  type JsonObject,
  LlmAgent,
  retry,
  type Tool,
  tool,
  transferToAgent,
} from 'toolwright'
import type { Intent } from 'toolwright/store'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createRecordingStore, intentsOf, plainTool, runScenario } from './kit.ts'

const apiKey: AuthConfig = { authScheme: { type: 'apiKey', in: 'header', name: 'x-key' }, credentialKey: 'key' }

/** Runs one call of a guarded tool next to a sibling call, and reports whether its body ran. */
async function attempt(more: Partial<Tool>, args = {}) {
  let ran = false
  const guarded = plainTool(
    'guarded',
    () => {
      ran = true
      return 'ran'
    },
    more,
  )
  const result = await runScenario({
    tools: [guarded, plainTool('other', () => 'ok')],
    calls: [{ name: 'guarded', args }, { name: 'other' }],
  })
  const isConfirmationRequested = result.events.some(({ actions }) => actions.requestedToolConfirmations)
  const other = result.responses.find(({ name }) => name === 'other')
  expect(other?.response).toEqual({ result: 'ok' })
  if (!isConfirmationRequested) expect(result.text).toBe('done')
  return { ran, isConfirmationRequested, response: result.responses.find(({ name }) => name === 'guarded')?.response }
}

/** The arguments shown in requested confirmations. */
function confirmedArgsOf(events: readonly Event[]): unknown[] {
  const asking = events.filter(({ actions }) => actions.requestedToolConfirmations)
  const calls = asking.flatMap(({ content }) => content?.parts.flatMap((part) => part.functionCall ?? []) ?? [])
  return calls.map(({ args }) => (args.originalFunctionCall as JsonObject).args)
}

describe('requiresConfirmation', () => {
  const invalid = (value: unknown) => value as boolean
  const closed: [string, Tool['requiresConfirmation']][] = [
    ['is true', true],
    ['is a predicate that returns true', () => true],
    ['is a predicate that resolves to true', async () => true],
    [
      'is a predicate that throws',
      () => {
        throw new Error('cannot tell')
      },
    ],
    ['is a predicate that rejects', () => Promise.reject(new Error('cannot tell'))],
    ['is a predicate that returns undefined', () => invalid(undefined)],
    ['is a predicate that returns a string', () => invalid('no')],
  ]
  test.each(closed)(
    'requests a confirmation before running the body when the gate %s',
    async (_, requiresConfirmation) => {
      expect(await attempt({ requiresConfirmation })).toEqual({
        ran: false,
        isConfirmationRequested: true,
        response: undefined,
      })
    },
  )

  test('rejects a string when the agent is built', async () => {
    await expect(attempt({ requiresConfirmation: invalid('always') })).rejects.toThrow(
      'requiresConfirmation must be a boolean or a function, got a string',
    )
  })

  test.each<[string, Tool['requiresConfirmation']]>([
    ['is false', false],
    ['is a predicate that returns false', () => false],
    ['is a predicate that resolves to false', async () => false],
  ])('runs the body without a confirmation when the gate %s', async (_, requiresConfirmation) => {
    expect(await attempt({ requiresConfirmation })).toEqual({
      ran: true,
      isConfirmationRequested: false,
      response: { result: 'ran' },
    })
  })

  test('ignores approvals in the arguments of the model', async () => {
    const { ran } = await attempt(
      { requiresConfirmation: true },
      { confirmed: true, approved: true, toolConfirmation: { confirmed: true } },
    )
    expect(ran).toBe(false)
  })

  test('calls the predicate with parsed arguments and state, and ignores changes it makes', async () => {
    const ran: unknown[] = []
    const refund = tool({
      name: 'refund',
      description: 'Refund',
      parameters: z.object({ amount: z.number().default(1_000), at: z.string().transform((text) => new Date(text)) }),
      requiresConfirmation: (args, { state, invocation }) => {
        const small = args.amount < Number(state.get('limit')) && args.at.getTime() < 10 && invocation.userId === 'ada'
        args.amount = 1_000_000
        return !small
      },
      run: ({ amount }) => ran.push(amount),
    })
    const past = new Date(5).toISOString()
    const future = new Date(50).toISOString()
    const calls = [{ amount: 10, at: past }, { at: past }, { amount: 10, at: future }].map((args) => ({
      name: 'refund',
      args,
    }))
    const { events } = await runScenario({ tools: [refund], calls, stateDelta: { limit: 100 } })
    expect(ran).toEqual([10])
    expect(confirmedArgsOf(events)).toMatchObject([{ amount: 1_000 }, { amount: 10 }])
  })

  test('ignores changes that the predicate makes inside the arguments', async () => {
    const ran: unknown[] = []
    const guarded = plainTool('guarded', (args) => ran.push(args), {
      requiresConfirmation: (args) => {
        ;(args.list as string[]).push('spoiled')
        return false
      },
    })
    await runScenario({ tools: [guarded], calls: [{ name: 'guarded', args: { list: ['good'] } }] })
    expect(ran).toEqual([{ list: ['good'] }])
  })

  test('shows arguments rewritten by beforeTool in the confirmation', async () => {
    const guarded = plainTool('guarded', () => expect.unreachable(), {
      requiresConfirmation: ({ amount }) => Number(amount) > 10,
    })
    const { events } = await runScenario({
      tools: [guarded],
      calls: [{ name: 'guarded', args: { amount: 1 } }],
      agent: { beforeTool: () => ({ args: { amount: 100 } }) },
    })
    expect(confirmedArgsOf(events)).toEqual([{ amount: 100 }])
  })

  test('applies to a tool inside a policy', async () => {
    const guarded = plainTool('guarded', () => expect.unreachable(), { requiresConfirmation: true })
    const { events } = await runScenario({ tools: [retry(guarded, { attempts: 3 })], calls: [{ name: 'guarded' }] })
    expect(confirmedArgsOf(events)).toEqual([{}])
  })
})

test('the runner answers AUTH_FAILED for a tool that needs a credential and does not run its body', async () => {
  const { ran, response } = await attempt({ authConfig: apiKey })
  expect(ran).toBe(false)
  expect(response).toMatchObject({ errorCode: 'AUTH_FAILED', error: expect.stringContaining('guarded') })
})

describe('intent records', () => {
  const effects = async (tools: readonly Tool[], calls: readonly { name: string; id: string; args?: JsonObject }[]) => {
    const { sessionService, appended } = createRecordingStore()
    const result = await runScenario({ tools, calls, runner: { sessionService } })
    const kinds = appended.map((one) => ('type' in one ? 'intent' : (one.content?.role ?? 'none')))
    return { result, kinds, intents: intentsOf(appended) as Intent[] }
  }

  test('are appended once before the bodies, for calls with side effects', async () => {
    const seen: number[] = []
    const { sessionService, appended } = createRecordingStore()
    const note = (): void => void seen.push(intentsOf(appended).length)
    const tools = [
      plainTool('read', note, { effect: 'none' }),
      plainTool('put', note, { effect: 'idempotent' }),
      plainTool('pay', note, { effect: 'atMostOnce' }),
      { ...plainTool('default', note), effect: undefined },
    ]
    const calls = tools.map(({ name }) => ({ name, id: name }))
    const { invocationId } = await runScenario({ tools, calls, runner: { sessionService } })
    expect(seen).toEqual([1, 1, 1, 1])
    expect(intentsOf(appended)).toEqual([
      { type: 'intent', invocationId, path: 'agent', calls: [{ id: 'put' }, { id: 'pay' }, { id: 'default' }] },
    ])
  })

  test('are not appended for a batch without side effects', async () => {
    const { kinds } = await effects([plainTool('read', () => 1)], [{ name: 'read', id: 'a' }])
    expect(kinds).toEqual(['user', 'model', 'tool', 'model'])
  })

  test('are appended between the reply and the response', async () => {
    const { kinds } = await effects([plainTool('pay', () => 1, { effect: 'atMostOnce' })], [{ name: 'pay', id: 'a' }])
    expect(kinds).toEqual(['user', 'model', 'intent', 'tool', 'model'])
  })

  test('are not appended for rejected, unknown or invalid calls', async () => {
    const effect = 'atMostOnce'
    const tools = [
      plainTool('guarded', () => 1, { effect, requiresConfirmation: true }),
      plainTool('locked', () => 1, { effect, authConfig: apiKey }),
      plainTool('picky', () => 1, { effect, parse: () => ({ issues: [{ path: 'a', expected: 'b' }] }) }),
    ]
    const { intents } = await effects(tools, [
      ...tools.map(({ name }) => ({ name, id: name })),
      { name: 'nope', id: 'n' },
    ])
    expect(intents).toEqual([])
  })

  test("are neither yielded nor part of the session's events", async () => {
    const { result } = await effects([plainTool('pay', () => 1, { effect: 'atMostOnce' })], [{ name: 'pay', id: 'a' }])
    const { runner, sessionId } = result
    const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
    expect(JSON.stringify([result.events, session])).not.toContain('intent')
  })
})

describe('the batch of a model reply', () => {
  const child = (name: string): LlmAgent => new LlmAgent({ name, model: scriptedModel([`I am ${name}`]) })
  const moves: Tool[] = [
    plainTool('give_up', (_, context) => {
      context.actions.escalate = true
    }),
    plainTool('hand_over', (args, context) => {
      context.state.set('by', 'hand_over')
      context.transferToAgent((args as { to: string }).to)
      return 'handed over'
    }),
    transferToAgent(),
  ]
  const whenCalled = (calls: { name: string; args?: { [key: string]: unknown } }[]) =>
    runScenario({ tools: moves, steps: [{ calls }, 'still me'], agent: { subAgents: [child('ann'), child('bob')] } })

  test('transfers to the agent that a tool body passes to transferToAgent()', async () => {
    const { text, state } = await whenCalled([{ name: 'hand_over', args: { to: 'bob' } }])
    expect(text).toBe('I am bob')
    expect(state).toEqual({ by: 'hand_over' })
  })

  test('prefers a transfer over an escalation, in either order', async () => {
    const transfer = { name: 'transfer_to_agent', args: { agent_name: 'ann' } }
    for (const calls of [
      [transfer, { name: 'give_up' }],
      [{ name: 'give_up' }, transfer],
    ]) {
      const { text, events } = await whenCalled(calls)
      expect(text).toBe('I am ann')
      expect(events.some((event) => event.actions.escalate)).toBe(false)
    }
  })

  test('performs the first of two transfers and answers the second with CANCELLED', async () => {
    const { text, responses, state } = await whenCalled([
      { name: 'transfer_to_agent', args: { agent_name: 'ann' } },
      { name: 'hand_over', args: { to: 'bob' } },
    ])
    expect(text).toBe('I am ann')
    expect(responses[1]?.response).toMatchObject({ errorCode: 'CANCELLED', error: expect.stringContaining('ann') })
    expect(state).toEqual({})
  })

  test('answers NOT_FOUND with the reachable agents for an unknown agent and drops the state of the call', async () => {
    const { text, response, state } = await whenCalled([{ name: 'hand_over', args: { to: 'eve' } }])
    expect(response).toMatchObject({ errorCode: 'NOT_FOUND', reachable: ['ann', 'bob'] })
    expect(state).toEqual({})
    expect(text).toBe('still me')
  })

  test('records an escalation as its own event', async () => {
    const { events } = await whenCalled([{ name: 'give_up' }])
    expect(events.map((event) => [event.content?.role, event.actions])).toEqual([
      ['model', {}],
      ['tool', {}],
      [undefined, { escalate: true }],
    ])
  })

  test('ends the run with the response when skipSummarization is set', async () => {
    const show = plainTool('show', (_, context) => {
      context.actions.skipSummarization = true
      return { text: 'as it is' }
    })
    const { runner } = await runScenario({ tools: [show], steps: ['x', { calls: [{ name: 'show' }] }] })
    const { text, events } = await runner.complete({ userId: 'ada', message: 'go' })
    expect(text).toBe('as it is')
    expect(events).toHaveLength(2)
  })
})
