// Phases hold at every entry: live sessions, text runs, answers, resumed runs, code and transfers.
import {
  agentTool,
  approve,
  type CodeExecutor,
  confirm,
  InMemorySessionService,
  type JsonObject,
  LlmAgent,
  type LlmAgentOptions,
  Runner,
  type RunnerOptions,
  type SessionService,
  type Tool,
} from 'toolwright'
import { connectLive, conversationPhases, isTrue, type LivePhase } from 'toolwright/live'
import { type ScriptedModel, type ScriptedStep, scriptedLive, scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { stores } from '../stores.ts'
import { plainTool, recordingLogger, silentLogger } from './kit.ts'
import { callTool, nextResponse, startStrict } from './live-calls-kit.ts'

const REFUSED = { error: "Tool 'take_payment' is not available in the current conversation phase." }
const pay: ScriptedStep = { calls: [{ name: 'take_payment' }] }
const verify: ScriptedStep = { calls: [{ name: 'verify_identity' }] }

const phaseList: LivePhase[] = [
  {
    name: 'verify',
    instruction: 'Verify the caller.',
    tools: ['verify_identity'],
    transitions: [{ to: 'pay', when: isTrue('verified') }],
  },
  { name: 'pay', instruction: 'Take the payment.', tools: ['take_payment'] },
]
const phases = conversationPhases({ phases: phaseList, initialPhase: 'verify' })

const verifyTool = plainTool('verify_identity', (_, { state }) => {
  state.set('verified', true)
  return { verified: true }
})
function payTool(): { tool: Tool; paid: ReturnType<typeof vi.fn> } {
  const paid = vi.fn(() => ({ paid: true }))
  return { tool: plainTool('take_payment', paid), paid }
}

interface Desk {
  readonly runner: Runner
  readonly model: ScriptedModel
  readonly paid: ReturnType<typeof vi.fn>
  readonly sessionService: SessionService
  say(message?: string, options?: { stateDelta?: JsonObject }): Promise<JsonObject[]>
}
/** A runner with phases. `say` returns the responses of the calls of one run. */
function desk(
  steps: readonly ScriptedStep[],
  {
    agent,
    sessionId = 's1',
    ...options
  }: Partial<Omit<RunnerOptions, 'agent'>> & {
    agent?: Partial<LlmAgentOptions>
    sessionId?: string
  } = {},
): Desk {
  const { tool, paid } = payTool()
  const model = scriptedModel([...steps])
  const sessionService = options.sessionService ?? new InMemorySessionService()
  const root = new LlmAgent({ name: 'desk', model, tools: [verifyTool, tool], ...agent })
  const runner = new Runner({ appName: 'app', agent: root, phases, logger: silentLogger, ...options, sessionService })
  onTestFinished(() => runner.close())
  const say: Desk['say'] = async (message = 'Go.', more = {}) => {
    const { events } = await runner.complete({ userId: 'ada', sessionId, message, ...more })
    return events.flatMap(({ content }) =>
      (content?.parts ?? []).flatMap(({ functionResponse }) => (functionResponse ? [functionResponse.response] : [])),
    )
  }
  return { runner, model, paid, sessionService, say }
}

async function records({ sessionService }: Pick<Desk, 'sessionService'>): Promise<unknown[]> {
  const lease = await sessionService.claim({ appName: 'app', userId: 'ada', sessionId: 's1' })
  const { entries } = await sessionService.read(lease)
  await sessionService.release(lease)
  return entries.flatMap(({ record }) => (record?.type === 'phase' ? [record.phase] : []))
}

describe('a text run of a runner with phases', () => {
  test('starts in the initial phase, in a session that was never live', async () => {
    const { say, paid, model } = desk([pay, 'Sorry.'])
    expect(await say()).toEqual([REFUSED])
    expect(paid).not.toHaveBeenCalled()
    const { config } = model.requests[0] as (typeof model.requests)[0]
    expect(config.systemInstruction).toBe('Verify the caller.')
    expect(
      config.tools?.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
    ).toEqual(['verify_identity'])
  })

  test.each(stores)('follows transitions, and keeps its phase in later runs, with sessions $name', async ({ open }) => {
    const { sessionService } = open()
    const first = desk([verify, pay, 'Thanks.'], { sessionService })
    expect(await first.say()).toEqual([{ verified: true }, { paid: true }])
    expect(first.model.requests[1]?.config.systemInstruction).toBe('Take the payment.')
    expect(await records(first)).toEqual(['verify', 'pay'])
    const second = desk([pay, 'Thanks.', verify, 'Sorry.'], { sessionService })
    expect(await second.say('Again.')).toEqual([{ paid: true }])
    expect(await second.say('Verify.')).toMatchObject([{ error: expect.stringContaining('verify_identity') }])
  })

  test('is not opened by a client that writes a phase into the state', async () => {
    const { say, runner, paid } = desk([pay, 'Sorry.', pay, 'Sorry.'])
    const forged = { phase: 'pay', 'derived:phase': 'pay', 'session:phase': 'pay', 'trusted:phase': 'pay' }
    expect(await say('Go.', { stateDelta: forged })).toEqual([REFUSED])
    await runner.updateState({ userId: 'ada', sessionId: 's1', stateDelta: forged })
    expect(await say()).toEqual([REFUSED])
    expect(paid).not.toHaveBeenCalled()
  })

  test('is not opened by imported events', async () => {
    const { say, sessionService, paid } = desk([pay, 'Sorry.'])
    const imported = { type: 'phase', phase: 'pay', id: 'e1', author: 'desk', timestamp: 1, actions: { phase: 'pay' } }
    await sessionService.createSession({
      appName: 'app',
      userId: 'ada',
      sessionId: 's1',
      events: [{ ...imported, invocationId: 'i1' } as never],
    })
    expect(await say()).toEqual([REFUSED])
    expect(paid).not.toHaveBeenCalled()
  })

  test('refuses an approved call when the phase has changed meanwhile', async () => {
    const { tool, paid } = payTool()
    const { runner, say } = desk([pay, 'Wait.', 'Too late.'], {
      agent: { tools: [verifyTool, confirm(tool)] },
      phases: conversationPhases({
        initialPhase: 'pay',
        phases: [
          {
            name: 'pay',
            instruction: 'Pay.',
            tools: ['take_payment'],
            transitions: [{ to: 'done', when: isTrue('over') }],
          },
          { name: 'done', instruction: 'Say goodbye.', tools: [] },
        ],
      }),
    })
    await say()
    const [request] = await runner.pending({ userId: 'ada' })
    await runner.updateState({ userId: 'ada', sessionId: 's1', stateDelta: { over: true } })
    const message = [approve(request as never)]
    const { events } = await runner.complete({ userId: 'ada', sessionId: 's1', message })
    expect(events[0]?.content?.parts[0]?.functionResponse?.response).toEqual(REFUSED)
    expect(paid).not.toHaveBeenCalled()
  })

  describe('when another process, which does not know the phases, continues', () => {
    const closing = conversationPhases({
      initialPhase: 'pay',
      phases: [
        {
          name: 'pay',
          instruction: 'Pay.',
          tools: ['take_payment', 'hang_up'],
          transitions: [{ to: 'done', when: isTrue('over') }],
        },
        {
          name: 'done',
          instruction: 'Say goodbye.',
          tools: [],
          onEnter: ({ state }: { state: { set(key: string, value: unknown): unknown } }) =>
            void state.set('closed', true),
        },
      ],
    })
    const hangUp = plainTool('hang_up', (_, context) => {
      context.state.set('over', true)
      context.actions.skipSummarization = true
      return { over: true }
    })
    const both: ScriptedStep = { calls: [{ name: 'take_payment' }, { name: 'hang_up' }] }
    const gated = () => {
      const { tool, paid } = payTool()
      return { paid, agent: { tools: [hangUp, confirm(tool)] } }
    }

    test.each(stores)(
      'refuses an approved call after a call beside it has closed the phase, with sessions $name',
      async ({ open }) => {
        const { sessionService } = open()
        const first = desk([both], { agent: gated().agent, phases: closing, sessionService })
        await first.say()
        expect(await records(first)).toEqual(['pay', 'done'])
        const { agent, paid } = gated()
        const other = desk(['Too late.'], { agent, phases: undefined, sessionService })
        const message = (await other.runner.pending({ userId: 'ada' })).map((request) => approve(request))
        const { events } = await other.runner.complete({ userId: 'ada', sessionId: 's1', message })
        expect(events[0]?.content?.parts[0]?.functionResponse?.response).toEqual(REFUSED)
        expect(paid).not.toHaveBeenCalled()
      },
    )

    test('refuses calls after the last call of a run has closed the phase, and the run stays finished', async () => {
      const first = desk([{ calls: [{ name: 'hang_up' }] }], { agent: gated().agent, phases: closing })
      expect(await first.say()).toEqual([{ over: true }])
      await expect(async () => {
        for await (const _ of first.runner.resume({ userId: 'ada', sessionId: 's1' }));
      }).rejects.toMatchObject({ code: 'NOT_FOUND' })
      const stored = await first.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
      expect(stored?.state).toEqual({ over: true, closed: true })
      const other = desk([pay, 'Sorry.'], { phases: undefined, sessionService: first.sessionService })
      expect(await other.say()).toEqual([REFUSED])
    })

    test('runs an approved call that the recorded phase allows', async () => {
      const first = desk([pay], { agent: gated().agent, phases: closing })
      await first.say()
      const { agent, paid } = gated()
      const other = desk(['Paid.'], { agent, phases: undefined, sessionService: first.sessionService })
      const message = (await other.runner.pending({ userId: 'ada' })).map((request) => approve(request))
      await other.runner.complete({ userId: 'ada', sessionId: 's1', message })
      expect(paid).toHaveBeenCalledOnce()
    })
  })

  test('runs an approved call that the phase still allows', async () => {
    const { tool, paid } = payTool()
    const { runner, say } = desk([verify, pay, 'Paid.'], { agent: { tools: [verifyTool, confirm(tool)] } })
    await say()
    const [request] = await runner.pending({ userId: 'ada' })
    await runner.complete({ userId: 'ada', sessionId: 's1', message: [approve(request as never)] })
    expect(paid).toHaveBeenCalledOnce()
  })

  test('refuses calls of code that the model writes', async () => {
    const answers: unknown[] = []
    const codeExecutor: CodeExecutor = {
      languages: ['javascript'],
      callsTools: true,
      execute: async ({ tools, callTool: call }) => {
        expect(tools?.length).toBeGreaterThan(0)
        for (const name of ['take_payment', 'verify_identity', 'take_payment'])
          answers.push(await call?.(name, {}).catch((error: Error) => error.message))
        return { outcome: 'OK', output: 'done' }
      },
    } as CodeExecutor
    const { say, paid } = desk([{ parts: [{ executableCode: { language: 'javascript', code: 'x' } }] }, 'Done.'], {
      agent: { codeExecutor },
    })
    await say()
    expect(JSON.stringify(answers[0])).toContain('not available in the current conversation phase')
    expect(paid).toHaveBeenCalledOnce() // after the verification
  })

  test('applies to the agent that takes over, and not inside an agent tool', async () => {
    const [first, second] = phaseList as [LivePhase, LivePhase]
    const opening = { ...first, tools: ['transfer_to_agent', 'ask_agent'] }
    const handing = conversationPhases({ phases: [opening, second], initialPhase: 'verify' })
    const { tool, paid } = payTool()
    const billing = new LlmAgent({
      name: 'billing',
      description: 'Bills',
      model: scriptedModel([pay, 'Sorry.']),
      tools: [tool],
    })
    const moved = desk([{ calls: [{ name: 'transfer_to_agent', args: { agent_name: 'billing' } }] }], {
      agent: { tools: [], subAgents: [billing] },
      phases: handing,
    })
    expect((await moved.say()).at(-1)).toEqual(REFUSED)
    expect(paid).not.toHaveBeenCalled()
    const asked = new LlmAgent({
      name: 'ask_agent',
      description: 'Asks',
      model: scriptedModel([pay, 'Done.']),
      tools: [tool],
    })
    const inside = desk([{ calls: [{ name: 'ask_agent', args: { request: 'Pay.' } }] }, 'Done.'], {
      agent: { tools: [agentTool(asked)] },
      phases: handing,
    })
    await inside.say()
    expect(paid).toHaveBeenCalledOnce()
  })

  test('continues in its phase after a crash', async () => {
    const { sessionService } = desk([])
    const crashing = desk([verify, () => Promise.reject(new Error('down')), 'never'], { sessionService })
    await crashing.say()
    const next = desk([pay, 'Thanks.'], { sessionService })
    expect(await next.say('Again.')).toEqual([{ paid: true }])
  })

  test('records what a hook writes, and reports one that needs a live session', async () => {
    const { lines, ...logger } = recordingLogger()
    const withHooks = conversationPhases({
      initialPhase: 'verify',
      phases: [
        {
          name: 'verify',
          instruction: 'Verify.',
          transitions: [{ to: 'pay', when: isTrue('verified') }],
          onEnter: ({ state }) => state.set('entered', true),
        },
        {
          name: 'pay',
          instruction: (state) => `Since ${state.get('since')}.`,
          onEnter: ({ state, session }) => {
            state.set('since', 'now')
            session.send('Hello.')
          },
        },
      ],
    })
    const { say, runner, model } = desk([verify, 'Thanks.'], {
      phases: withHooks,
      logger: { lines, ...logger } as never,
    })
    await say()
    const stored = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
    expect(stored?.state).toMatchObject({ entered: true, since: 'now' })
    expect(model.requests[1]?.config.systemInstruction).toBe('Since now.')
    expect(lines.join()).toContain('onEnter of phase "pay" failed')
  })

  test('follows computed values', async () => {
    const computed = [
      {
        key: 'is_known',
        from: ['verified'],
        compute: (state: { get(key: string): unknown }) => state.get('verified') === true,
      },
    ]
    const [first, second] = phaseList as [LivePhase, LivePhase]
    const list = [{ ...first, transitions: [{ to: 'pay', when: isTrue('derived:is_known') }] }, second]
    const { say } = desk([pay, verify, pay, 'Thanks.'], {
      phases: conversationPhases({ phases: list, initialPhase: 'verify', computed }),
    })
    expect(await say()).toEqual([REFUSED, { verified: true }, { paid: true }])
  })
})

describe('a session that was live with phases', () => {
  async function liveSession(runner: Runner, script: Parameters<typeof scriptedLive>[0]): Promise<void> {
    const session = await connectLive({
      runner,
      userId: 'ada',
      sessionId: 's1',
      model: scriptedLive(script),
      phases: phaseList,
      initialPhase: 'verify',
    })
    await session.send('Go.')
    for await (const { type } of session) if (type === 'turnComplete') break
    await session.close()
  }

  test('refuses the same tools in a text run of the same runner, and follows transitions there', async () => {
    const { runner, say, paid } = desk([pay, verify, pay, 'Thanks.'], { phases: undefined })
    await liveSession(runner, [{ calls: [{ name: 'take_payment' }] }, 'Sorry.'])
    expect(await say()).toEqual([REFUSED, { verified: true }, { paid: true }])
    expect(paid).toHaveBeenCalledOnce()
  })

  test('refuses them in a text run of a runner that does not know the phases, and allows those of the phase', async () => {
    const live = desk([], { phases: undefined })
    await liveSession(live.runner, ['Hello.'])
    const { sessionService } = live
    const other = desk([pay, verify, pay, 'Sorry.'], { phases: undefined, sessionService })
    expect(await other.say()).toEqual([REFUSED, { verified: true }, REFUSED])
  })

  test('allows what the reached phase allows in a text run', async () => {
    const live = desk([], { phases: undefined })
    await liveSession(live.runner, [{ calls: [{ name: 'verify_identity' }] }, 'Thanks.'])
    const { sessionService } = live
    const other = desk([pay, 'Thanks.'], { phases: undefined, sessionService })
    expect(await other.say()).toEqual([{ paid: true }])
  })

  test('keeps its phase in a fork', async () => {
    const { runner, model, paid } = desk([pay, 'Sorry.'], { phases: undefined })
    await liveSession(runner, ['Hello.'])
    const stored = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
    const before = stored?.events.at(-1)?.id ?? ''
    const copy = await runner.fork({ userId: 'ada', sessionId: 's1', before })
    await runner.complete({ userId: 'ada', ...copy, message: 'Pay.' })
    expect(model.requests).toHaveLength(2)
    expect(paid).not.toHaveBeenCalled()
  })
})

test('a live session of a runner with phases keeps to them', async () => {
  const { runner, paid } = desk([])
  const { connection } = await startStrict({ runner, userId: 'ada' })
  expect(await callTool(connection, 'take_payment')).toEqual(REFUSED)
  expect(await callTool(connection, 'verify_identity')).toEqual({ verified: true })
  expect(await callTool(connection, 'take_payment', {}, 'c2')).toEqual({ paid: true })
  expect(paid).toHaveBeenCalledOnce()
})

describe('a live session that is connected again', () => {
  const last: LivePhase[] = [...phaseList, { name: 'done', instruction: 'Say goodbye.', tools: [] }]
  const again = conversationPhases({ phases: last, initialPhase: 'verify' })

  test('continues in the phase that was reached: hanging up does not open a phase again', async () => {
    const { runner, paid, say } = desk([verify, 'Thanks.'], { phases: again })
    await say()
    const first = await startStrict({ runner, userId: 'ada', sessionId: 's1' })
    expect(first.session.phase).toBe('pay')
    await first.session.enterPhase('done')
    await first.session.close()
    const second = await startStrict({ runner, userId: 'ada', sessionId: 's1' })
    expect(second.session.phase).toBe('done')
    expect(await callTool(second.connection, 'take_payment')).toEqual(REFUSED)
    expect(paid).not.toHaveBeenCalled()
    await second.session.enterPhase('pay')
    expect(await callTool(second.connection, 'take_payment', {}, 'c2')).toEqual({ paid: true })
  })

  test('enters a phase once, not for each connection', async () => {
    const onEnter = vi.fn()
    const [entered = { name: '', instruction: '' }, ...others] = last
    const definition = { phases: [{ ...entered, onEnter }, ...others], initialPhase: 'verify' }
    const { runner } = desk([], { phases: conversationPhases(definition) })
    for (let times = 0; times < 2; times++) {
      const { session } = await startStrict({ runner, userId: 'ada', sessionId: 's1' })
      await session.close()
    }
    expect(onEnter).toHaveBeenCalledOnce()
  })

  test('starts in the initial phase when the phases no longer have the one that was reached', async () => {
    const { runner, say, sessionService } = desk([verify, 'Thanks.'])
    await say()
    const changed = [{ name: 'closed', instruction: 'Say that the desk is closed.', tools: [] }]
    const other = desk([], { sessionService, phases: conversationPhases({ phases: changed, initialPhase: 'closed' }) })
    await runner.close()
    const { session } = await startStrict({ runner: other.runner, userId: 'ada', sessionId: 's1' })
    expect(session.phase).toBe('closed')
  })
})

describe('a live session of a runner that does not know the phases of the conversation', () => {
  test('refuses the tools that the reached phase does not allow, also those that onToolCall would answer', async () => {
    const { say, sessionService } = desk([pay, 'Sorry.'])
    expect(await say()).toEqual([REFUSED])
    const other = desk([], { phases: undefined, sessionService })
    const onToolCall = vi.fn(() => [])
    const { connection } = await startStrict({ runner: other.runner, userId: 'ada', sessionId: 's1', onToolCall })
    expect(await callTool(connection, 'take_payment')).toEqual(REFUSED)
    expect(other.paid).not.toHaveBeenCalled()
    expect(onToolCall).not.toHaveBeenCalled()
  })

  test('runs the tools of the reached phase', async () => {
    const { say, sessionService } = desk([verify, 'Thanks.'])
    expect(await say()).toEqual([{ verified: true }])
    const other = desk([], { phases: undefined, sessionService })
    const { connection } = await startStrict({ runner: other.runner, userId: 'ada', sessionId: 's1' })
    expect(await callTool(connection, 'take_payment')).toEqual({ paid: true })
  })

  test('runs every tool of a session that never had phases', async () => {
    const { runner } = desk([], { phases: undefined })
    const { connection } = await startStrict({ runner, userId: 'ada', sessionId: 's1' })
    expect(await callTool(connection, 'take_payment')).toEqual({ paid: true })
  })
})

test('an approved call of a live session is refused when the phase has changed meanwhile', async () => {
  const { tool, paid } = payTool()
  const { connection, session, event } = await startStrict({
    tools: [confirm(tool)],
    confirmationProvider: () => new Promise(() => {}),
    initialPhase: 'pay',
    phases: [
      { name: 'pay', instruction: 'Pay.', tools: ['take_payment'] },
      { name: 'done', instruction: 'Say goodbye.', tools: [] },
    ],
  })
  connection.call([{ id: 'c1', name: 'take_payment' }])
  const { request } = await event('request')
  await nextResponse(connection)
  await session.enterPhase('done')
  await session.answer(approve(request))
  expect((await nextResponse(connection)).response).toEqual(REFUSED)
  expect(paid).not.toHaveBeenCalled()
})

test('a session without phases has no record of one', async () => {
  const plain = desk([pay, 'Thanks.'], { phases: undefined })
  expect(await plain.say()).toEqual([{ paid: true }])
  expect(await records(plain)).toEqual([])
})
