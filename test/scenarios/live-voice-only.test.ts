// Agents that only speak: they need no text model, and their server tools are those of the live model.
import { agentTool, googleSearch, LlmAgent, Runner, SequentialAgent } from 'toolwright'
import { geminiLive } from 'toolwright/gemini'
import { connectLive } from 'toolwright/live'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { silentLogger } from './kit.ts'
import { nextResponse } from './live-calls-kit.ts'
import { startLive } from './live-kit.ts'

const helper = (options: Partial<ConstructorParameters<typeof LlmAgent>[0]> = {}) =>
  agentTool(new LlmAgent({ name: 'helper', description: 'Helps', ...options }))

describe('connectLive() combines googleSearch() and an agent tool', () => {
  test('if the textModel has no server tools', async () => {
    const textModel = scriptedModel(['Done.'])
    const agent = new LlmAgent({ name: 'desk', tools: [googleSearch(), helper()] })
    const { connection } = await startLive({ agent, textModel })
    expect(JSON.stringify(connection.setup?.tools)).toMatch(/googleSearch.*"helper"|"helper".*googleSearch/)
    connection.call([{ id: 'c1', name: 'helper', args: { request: 'Go.' } }])
    expect(await nextResponse(connection)).toMatchObject({ response: { text: 'Done.' } })
    expect(textModel.requests).toHaveLength(1)
  })

  test('if the agent has a text model of its own without server tools, or the name of a model', async () => {
    for (const model of [scriptedModel([]), 'gemini-2.5-flash-live']) {
      const agent = new LlmAgent({ name: 'desk', model, tools: [googleSearch(), helper()] })
      const { connection } = await startLive({ agent, textModel: scriptedModel([]) })
      expect(JSON.stringify(connection.setup?.tools)).toContain('googleSearch')
    }
  })

  test('with a runner whose agent has no model', async () => {
    const textModel = scriptedModel(['Done.'])
    const agent = new LlmAgent({ name: 'desk', tools: [googleSearch(), helper()] })
    const { connection } = await startLive({ runner: new Runner({ appName: 'app', agent }), textModel })
    expect(JSON.stringify(connection.setup?.tools)).toContain('googleSearch')
    connection.call([{ id: 'c1', name: 'helper', args: { request: 'Go.' } }])
    expect(await nextResponse(connection)).toMatchObject({ response: { text: 'Done.' } })
  })

  test('but refuses it inside the agent tool, which uses the textModel', async () => {
    const agent = new LlmAgent({ name: 'desk', tools: [helper({ tools: [googleSearch()] })] })
    for (const options of [{ agent }, { runner: new Runner({ appName: 'app', agent, logger: silentLogger }) }]) {
      const connecting = startLive({ ...options, textModel: scriptedModel([]) })
      await expect(connecting).rejects.toThrow(/agent "helper" runs on the model's servers/)
    }
  })
})

test('connectLive() refuses a server tool that the live model does not have, whatever the textModel has', async () => {
  const model = geminiLive('gemini-live-test', {
    apiKey: 'any',
    baseUrl: 'http://127.0.0.1:1',
    capabilities: { serverTools: [] },
  })
  const textModel = {
    ...scriptedModel([]),
    capabilities: { serverTools: ['googleSearch'], serverToolsWithFunctions: true },
  }
  const connecting = connectLive({ tools: [googleSearch()], model, textModel })
  await expect(connecting).rejects.toThrow(
    /model "gemini-live-test" does not support googleSearch.*in a live session, geminiLive\(\)/,
  )
})

describe('a runner of an agent without a model', () => {
  const agent = new LlmAgent({ name: 'desk', tools: [helper()] })
  const advice = /"desk" has no model.*new LlmAgent\(\{ model, \.\.\. \}\).*new Runner\(\{ model/

  test('refuses a text run with what to set, and records nothing', async () => {
    const runner = new Runner({ appName: 'app', agent })
    await expect(runner.complete({ userId: 'ada', sessionId: 's1', message: 'Hi' })).rejects.toThrow(advice)
    const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
    expect(session?.events ?? []).toEqual([])
  })

  test.each([undefined, 's1'])(
    'leaves no session after a refused text run with the session id %s',
    async (sessionId) => {
      const runner = new Runner({ appName: 'app', agent })
      await expect(runner.complete({ userId: 'ada', sessionId, message: 'Hi' })).rejects.toThrow(advice)
      expect(await runner.sessionService.listSessions({ appName: 'app', userId: 'ada' })).toEqual([])
    },
  )

  test('keeps a session that was there before a refused text run', async () => {
    const runner = new Runner({ appName: 'app', agent })
    await runner.sessionService.createSession({ appName: 'app', userId: 'ada', sessionId: 's1', state: { a: 1 } })
    await expect(runner.complete({ userId: 'ada', sessionId: 's1', message: 'Hi' })).rejects.toThrow(advice)
    expect(await runner.sessionService.listSessions({ appName: 'app', userId: 'ada' })).toMatchObject([
      { id: 's1', state: { a: 1 } },
    ])
  })

  test('runs text with `model` of the runner', async () => {
    const runner = new Runner({ appName: 'app', agent, model: scriptedModel(['Hello.']) })
    expect(await runner.complete({ userId: 'ada', message: 'Hi' })).toMatchObject({ text: 'Hello.' })
  })

  test('lets a callback answer instead of the model', async () => {
    const content = { role: 'model', parts: [{ text: 'We are closed.' }] } as const
    const closed = new LlmAgent({ name: 'desk', beforeModel: () => ({ content }) })
    const runner = new Runner({ appName: 'app', agent: closed })
    expect(await runner.complete({ userId: 'ada', message: 'Hi' })).toMatchObject({ text: 'We are closed.' })
  })

  test('ends a text run that reaches it by a transfer with what to set', async () => {
    const transferTo = (name: string) => ({ name: 'transfer_to_agent', args: { agent_name: name } })
    const model = scriptedModel([{ calls: [transferTo('desk')] }])
    const sales = new LlmAgent({ name: 'sales', description: 'Sells', model })
    const replies = [{ content: { role: 'model', parts: [{ functionCall: transferTo('sales') }] } } as const]
    const root = new LlmAgent({ name: 'desk', subAgents: [sales], beforeModel: () => replies.pop() })
    const runner = new Runner({ appName: 'app', agent: root, logger: silentLogger })
    const { error } = await runner.complete({ userId: 'ada', message: 'Hi' })
    expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringMatching(advice) })
  })

  test('still refuses an agent of a workflow, which cannot speak', () => {
    const line = new SequentialAgent({ name: 'line', subAgents: [new LlmAgent({ name: 'mute' })] })
    expect(() => new Runner({ appName: 'app', agent: line })).toThrow('"mute" has no model')
    expect(() => new Runner({ appName: 'app', agent: new LlmAgent({ name: 'desk', subAgents: [line] }) })).toThrow(
      '"mute" has no model',
    )
  })
})
