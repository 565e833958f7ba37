// Callbacks of agents and plugins around a live model.
import { LlmAgent, type LlmAgentOptions, type Plugin, Runner, type Tool } from 'toolwright'
import { connectLive } from 'toolwright/live'
import { scriptedLive, scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { plainTool, silentLogger } from './kit.ts'
import { callTool, startStrict, storedEvents } from './live-calls-kit.ts'

const text = (given: string) => ({ role: 'model' as const, parts: [{ text: given }] })

function runnerOf(agent: Partial<LlmAgentOptions>, plugins: readonly Plugin[] = []): Runner {
  const desk = new LlmAgent({ name: 'desk', model: scriptedModel([]), instruction: 'Be brief.', ...agent })
  const runner = new Runner({ appName: 'app', agent: desk, plugins, logger: silentLogger })
  onTestFinished(() => runner.close())
  return runner
}
const look = (): { tool: Tool; run: ReturnType<typeof vi.fn> } => {
  const run = vi.fn((args: unknown) => ({ args }))
  return { tool: plainTool('look', run), run }
}

describe('agent callbacks', () => {
  test('run when an agent begins and ends to speak, those of plugins first, and what they write is recorded', async () => {
    const calls: string[] = []
    const note = (who: string, when: string) => () => void calls.push(`${who} ${when}`)
    const billing = new LlmAgent({
      name: 'billing',
      description: 'Bills',
      beforeAgent: ({ context }) => context.state.set('billing', true),
      afterAgent: note('billing', 'after'),
    })
    const runner = runnerOf(
      {
        subAgents: [billing],
        beforeAgent: note('desk', 'before'),
        afterAgent: ({ context }) => {
          calls.push('desk after')
          context.state.set('left', true)
        },
      },
      [
        {
          name: 'audit',
          beforeAgent: ({ context }) => void calls.push(`plugin before ${context.invocation.agentName}`),
        },
      ],
    )
    const { connection, session, event } = await startStrict({ runner, userId: 'ada' })
    expect(calls).toEqual(['plugin before desk', 'desk before'])
    connection.call([{ id: 'c1', name: 'transfer_to_agent', args: { agent_name: 'billing' } }])
    await event('transfer')
    await connection.next('toolResponse')
    expect(calls.slice(2)).toEqual(['desk after', 'plugin before billing'])
    expect([session.state.get('left'), session.state.get('billing')]).toEqual([true, true])
    await session.close()
    expect(calls.slice(4)).toEqual(['billing after'])
  })

  test('that answer instead of the agent keep it from speaking', async () => {
    const runner = runnerOf({ beforeAgent: () => text('Closed today.') })
    const model = scriptedLive([])
    await expect(connectLive({ runner, userId: 'ada', sessionId: 's1', model })).rejects.toThrow(
      'A beforeAgent callback of agent "desk" returned content.',
    )
    expect(model.requests).toEqual([])
    const stored = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
    expect(stored?.events.flatMap(({ content }) => content?.parts ?? [])).toContainEqual({ text: 'Closed today.' })
  })

  test('that throw after a transfer end the session', async () => {
    const beforeAgent = () => text('Closed today.')
    const billing = new LlmAgent({ name: 'billing', description: 'Bills', beforeAgent })
    const { connection, event } = await startStrict({ runner: runnerOf({ subAgents: [billing] }), userId: 'ada' })
    connection.call([{ id: 'c1', name: 'transfer_to_agent', args: { agent_name: 'billing' } }])
    expect(await event('error')).toMatchObject({ errorCode: 'AGENT_ERROR' })
    await event('closed')
  })
})

describe('model callbacks', () => {
  test('beforeModel changes the instruction and the tools that the model is set up with', async () => {
    const seen: unknown[] = []
    const runner = runnerOf({
      tools: [look().tool, plainTool('secret', () => ({}))],
      beforeModel: ({ request, context }) => {
        seen.push(request.contents)
        request.appendInstruction('Never speak of prices.')
        request.config.tools = request.config.tools?.map((entry) => ({
          ...entry,
          functionDeclarations: (entry.functionDeclarations ?? []).filter(({ name }) => name !== 'secret'),
        })) as never
        context.state.set('asked', true)
      },
    })
    const { connection, session } = await startStrict({ runner, userId: 'ada' })
    expect(JSON.stringify(connection.setup?.systemInstruction)).toContain('Never speak of prices.')
    expect(JSON.stringify(connection.setup?.tools)).toContain('"look"')
    expect(JSON.stringify(connection.setup?.tools)).not.toContain('"secret"')
    expect(session.state.get('asked')).toBe(true)
    expect(seen[0]).toEqual([])
  })

  test('a beforeModel that returns a response keeps the model from speaking', async () => {
    const model = scriptedLive([])
    const runner = runnerOf({ beforeModel: () => ({ content: text('No.') }) })
    await expect(connectLive({ runner, userId: 'ada', model })).rejects.toThrow('returned a response')
    expect(model.requests).toEqual([])
  })

  test('afterModel changes what is recorded of a reply', async () => {
    const runner = runnerOf({
      afterModel: ({ response, context }) => {
        context.state.set('replies', context.state.get('replies', 0) + 1)
        return { ...response, content: text(String(response.content?.parts[0]?.text).replace('4111', '****')) }
      },
    })
    const session = await connectLive({ runner, userId: 'ada', model: scriptedLive(['Your card is 4111.']) })
    await session.send('My card?')
    for await (const { type } of session) if (type === 'turnComplete') break
    const said = (await storedEvents(runner, session)).filter(({ author }) => author === 'desk')
    expect(said[0]?.content?.parts).toEqual([{ text: 'Your card is ****.' }])
    expect(said[0]?.actions.stateDelta).toEqual({ replies: 1 })
  })

  test('afterModel removes calls and changes arguments before they run', async () => {
    const { tool, run } = look()
    const runner = runnerOf({
      tools: [tool],
      afterModel: ({ response }) => ({
        ...response,
        content: {
          role: 'model',
          parts: (response.content?.parts ?? []).flatMap((part) => {
            if (!part.functionCall) return [part]
            if (part.functionCall.args.city === 'Nowhere') return []
            return [{ functionCall: { ...part.functionCall, args: { city: 'Oslo' } } }]
          }),
        },
      }),
    })
    const { connection, session } = await startStrict({ runner, userId: 'ada' })
    expect(await callTool(connection, 'look', { city: 'Nowhere' })).toEqual({
      error: 'This call was not run: an afterModel callback removed it.',
      errorCode: 'CANCELLED',
    })
    expect(run).not.toHaveBeenCalled()
    expect(await callTool(connection, 'look', { city: 'Rome' }, 'c2')).toEqual({ args: { city: 'Oslo' } })
    expect(session.openCalls).toBe(0)
  })

  test('a call to which afterModel gives the name of another tool does not run, nor does the other tool', async () => {
    const { tool, run } = look()
    const other = vi.fn(() => ({}))
    const runner = runnerOf({
      tools: [tool, plainTool('harmless', other)],
      afterModel: ({ response }) => ({
        ...response,
        content: {
          role: 'model',
          parts: (response.content?.parts ?? []).map(({ functionCall, ...part }) =>
            functionCall ? { functionCall: { ...functionCall, name: 'harmless' } } : part,
          ),
        },
      }),
    })
    const { connection } = await startStrict({ runner, userId: 'ada' })
    expect(await callTool(connection, 'look', { city: 'Rome' })).toEqual({
      error: 'This call was not run: an afterModel callback removed it.',
      errorCode: 'CANCELLED',
    })
    expect(run).not.toHaveBeenCalled()
    expect(other).not.toHaveBeenCalled()
    expect(await callTool(connection, 'harmless', {}, 'c2')).toEqual({})
  })

  test('calls to which the model gives one id keep their own arguments beside an afterModel callback', async () => {
    const { tool, run } = look()
    const runner = runnerOf({ tools: [tool], afterModel: () => undefined })
    const model = scriptedLive([
      { calls: ['Rome', 'Oslo'].map((city) => ({ name: 'look', id: 'c1', args: { city } })) },
      'Done.',
    ])
    await using session = await connectLive({ runner, userId: 'ada', model })
    await session.send('Look.')
    for await (const { type } of session) if (type === 'toolResponse') break
    expect(run.mock.calls.map(([args]) => args)).toEqual([{ city: 'Rome' }, { city: 'Oslo' }])
  })

  test('an agent without callbacks speaks as before', async () => {
    const { tool, run } = look()
    const { connection } = await startStrict({ runner: runnerOf({ tools: [tool] }), userId: 'ada' })
    expect(await callTool(connection, 'look', { city: 'Rome' })).toEqual({ args: { city: 'Rome' } })
    expect(run).toHaveBeenCalledOnce()
  })
})
