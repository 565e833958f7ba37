import {
  type AuthConfig,
  type Event,
  type Intent,
  type JsonObject,
  LlmAgent,
  retry,
  type Tool,
  tool,
  transferToAgent,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { bare, intentsOf, openLog, play } from './kit.ts'

const apiKey: AuthConfig = { authScheme: { type: 'apiKey', in: 'header', name: 'x-key' } }

/** Plays one call of a tool whose body must not run, unless it may. */
async function attempt(more: Partial<Tool>, args = {}) {
  let ran = false
  const guarded = bare(
    'guarded',
    () => {
      ran = true
      return 'ran'
    },
    more,
  )
  const told = await play({
    tools: [guarded, bare('other', () => 'ok')],
    calls: [{ name: 'guarded', args }, { name: 'other' }],
  })
  const asked = told.events.some(({ actions }) => actions.requestedToolConfirmations)
  const other = told.responses.find(({ name }) => name === 'other')
  expect(other?.response).toEqual({ result: 'ok' })
  if (!asked) expect(told.text).toBe('done')
  return { ran, asked, response: told.responses.find(({ name }) => name === 'guarded')?.response }
}

/** The arguments humans were asked about. */
function questionsOf(events: readonly Event[]): unknown[] {
  const asking = events.filter(({ actions }) => actions.requestedToolConfirmations)
  const calls = asking.flatMap(({ content }) => content?.parts.flatMap((part) => part.functionCall ?? []) ?? [])
  return calls.map(({ args }) => (args.originalFunctionCall as JsonObject).args)
}

describe('a tool that needs a yes', () => {
  const nonsense = (value: unknown) => value as boolean
  const closed: [string, Tool['requiresConfirmation']][] = [
    ['always', true],
    ['by a predicate', () => true],
    ['by a predicate that takes its time', async () => true],
    [
      'by a predicate that throws',
      () => {
        throw new Error('cannot tell')
      },
    ],
    ['by a predicate that rejects', () => Promise.reject(new Error('cannot tell'))],
    ['by a predicate that answers nothing', () => nonsense(undefined)],
    ['by a predicate that answers nonsense', () => nonsense('no')],
  ]
  test.each(closed)('%s, is not run before somebody was asked', async (_, requiresConfirmation) => {
    expect(await attempt({ requiresConfirmation })).toEqual({ ran: false, asked: true, response: undefined })
  })

  test('by a flag that is nonsense, is refused when the agent is built', async () => {
    await expect(attempt({ requiresConfirmation: nonsense('always') })).rejects.toThrow(
      'requiresConfirmation must be a boolean or a function, got a string',
    )
  })

  test.each<[string, Tool['requiresConfirmation']]>([
    ['never', false],
    ['by a predicate that says no', () => false],
    ['by a predicate that says no later', async () => false],
  ])('%s, runs', async (_, requiresConfirmation) => {
    expect(await attempt({ requiresConfirmation })).toEqual({ ran: true, asked: false, response: { result: 'ran' } })
  })

  test('the model cannot say it itself', async () => {
    const { ran } = await attempt(
      { requiresConfirmation: true },
      { confirmed: true, approved: true, toolConfirmation: { confirmed: true } },
    )
    expect(ran).toBe(false)
  })

  test('is judged by the arguments the body would get, and cannot change them', async () => {
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
    const { events } = await play({ tools: [refund], calls, stateDelta: { limit: 100 } })
    expect(ran).toEqual([10])
    expect(questionsOf(events)).toMatchObject([{ amount: 1_000 }, { amount: 10 }])
  })

  test('nor can it change what is inside them', async () => {
    const ran: unknown[] = []
    const guarded = bare('guarded', (args) => ran.push(args), {
      requiresConfirmation: (args) => {
        ;(args.list as string[]).push('spoiled')
        return false
      },
    })
    await play({ tools: [guarded], calls: [{ name: 'guarded', args: { list: ['good'] } }] })
    expect(ran).toEqual([{ list: ['good'] }])
  })

  test('is asked about rewritten arguments', async () => {
    const guarded = bare('guarded', () => expect.unreachable(), {
      requiresConfirmation: ({ amount }) => Number(amount) > 10,
    })
    const { events } = await play({
      tools: [guarded],
      calls: [{ name: 'guarded', args: { amount: 1 } }],
      agent: { beforeTool: () => ({ args: { amount: 100 } }) },
    })
    expect(questionsOf(events)).toEqual([{ amount: 100 }])
  })

  test('stays closed behind policies', async () => {
    const guarded = bare('guarded', () => expect.unreachable(), { requiresConfirmation: true })
    const { events } = await play({ tools: [retry(guarded, { attempts: 3 })], calls: [{ name: 'guarded' }] })
    expect(questionsOf(events)).toEqual([{}])
  })
})

test('a tool that needs a credential is not run without one', async () => {
  const { ran, response } = await attempt({ authConfig: apiKey })
  expect(ran).toBe(false)
  expect(response).toMatchObject({ errorCode: 'AUTH_FAILED', error: expect.stringContaining('guarded') })
})

describe('the intent to act', () => {
  const effects = async (tools: readonly Tool[], calls: readonly { name: string; id: string; args?: JsonObject }[]) => {
    const { sessionService, appended } = openLog()
    const told = await play({ tools, calls, runner: { sessionService } })
    const kinds = appended.map((one) => ('type' in one ? 'intent' : (one.content?.role ?? 'none')))
    return { told, kinds, intents: intentsOf(appended) as Intent[] }
  }

  test('is recorded once before the bodies, for calls that have an effect', async () => {
    const seen: number[] = []
    const { sessionService, appended } = openLog()
    const note = (): void => void seen.push(intentsOf(appended).length)
    const tools = [
      bare('read', note, { effect: 'none' }),
      bare('put', note, { effect: 'idempotent' }),
      bare('pay', note, { effect: 'atMostOnce' }),
      { ...bare('default', note), effect: undefined },
    ]
    const calls = tools.map(({ name }) => ({ name, id: name }))
    const { invocationId } = await play({ tools, calls, runner: { sessionService } })
    expect(seen).toEqual([1, 1, 1, 1])
    expect(intentsOf(appended)).toEqual([
      { type: 'intent', invocationId, path: 'agent', calls: [{ id: 'put' }, { id: 'pay' }, { id: 'default' }] },
    ])
  })

  test('is not recorded when nothing has an effect', async () => {
    const { kinds } = await effects([bare('read', () => 1)], [{ name: 'read', id: 'a' }])
    expect(kinds).toEqual(['user', 'model', 'tool', 'model'])
  })

  test('stands between the reply and the response', async () => {
    const { kinds } = await effects([bare('pay', () => 1, { effect: 'atMostOnce' })], [{ name: 'pay', id: 'a' }])
    expect(kinds).toEqual(['user', 'model', 'intent', 'tool', 'model'])
  })

  test('is not recorded for calls that are refused, unknown or wrong', async () => {
    const effect = 'atMostOnce'
    const tools = [
      bare('guarded', () => 1, { effect, requiresConfirmation: true }),
      bare('locked', () => 1, { effect, authConfig: apiKey }),
      bare('picky', () => 1, { effect, parse: () => ({ issues: [{ path: 'a', expected: 'b' }] }) }),
    ]
    const { intents } = await effects(tools, [
      ...tools.map(({ name }) => ({ name, id: name })),
      { name: 'nope', id: 'n' },
    ])
    expect(intents).toEqual([])
  })

  test('is never shown: not to whoever follows, not in the session', async () => {
    const { told } = await effects([bare('pay', () => 1, { effect: 'atMostOnce' })], [{ name: 'pay', id: 'a' }])
    const { runner, sessionId } = told
    const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
    expect(JSON.stringify([told.events, session])).not.toContain('intent')
  })
})

describe('who has control after a reply', () => {
  const child = (name: string): LlmAgent => new LlmAgent({ name, model: scriptedModel([`I am ${name}`]) })
  const moves: Tool[] = [
    bare('give_up', (_, context) => {
      context.actions.escalate = true
    }),
    bare('hand_over', (args, context) => {
      context.state.set('by', 'hand_over')
      context.transferToAgent((args as { to: string }).to)
      return 'handed over'
    }),
    transferToAgent(),
  ]
  const whenCalled = (calls: { name: string; args?: { [key: string]: unknown } }[]) =>
    play({ tools: moves, steps: [{ calls }, 'still me'], agent: { subAgents: [child('ann'), child('bob')] } })

  test('a transfer goes to the agent that was named', async () => {
    const { text, state } = await whenCalled([{ name: 'hand_over', args: { to: 'bob' } }])
    expect(text).toBe('I am bob')
    expect(state).toEqual({ by: 'hand_over' })
  })

  test('a transfer beats giving up, in either order', async () => {
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

  test('of two transfers the first counts, and the second is told', async () => {
    const { text, responses, state } = await whenCalled([
      { name: 'transfer_to_agent', args: { agent_name: 'ann' } },
      { name: 'hand_over', args: { to: 'bob' } },
    ])
    expect(text).toBe('I am ann')
    expect(responses[1]?.response).toMatchObject({ errorCode: 'CANCELLED', error: expect.stringContaining('ann') })
    expect(state).toEqual({})
  })

  test('a transfer to nobody is an error result that says who can be reached, and changes no state', async () => {
    const { text, response, state } = await whenCalled([{ name: 'hand_over', args: { to: 'eve' } }])
    expect(response).toMatchObject({ errorCode: 'NOT_FOUND', reachable: ['ann', 'bob'] })
    expect(state).toEqual({})
    expect(text).toBe('still me')
  })

  test('giving up alone is an event of its own', async () => {
    const { events } = await whenCalled([{ name: 'give_up' }])
    expect(events.map((event) => [event.content?.role, event.actions])).toEqual([
      ['model', {}],
      ['tool', {}],
      [undefined, { escalate: true }],
    ])
  })

  test('skipSummarization makes the response the answer', async () => {
    const show = bare('show', (_, context) => {
      context.actions.skipSummarization = true
      return { text: 'as it is' }
    })
    const { runner } = await play({ tools: [show], steps: ['x', { calls: [{ name: 'show' }] }] })
    const { text, events } = await runner.complete({ userId: 'ada', message: 'go' })
    expect(text).toBe('as it is')
    expect(events).toHaveLength(2)
  })
})
