import {
  cached,
  concurrency,
  type Event,
  isFinalResponse,
  longRunning,
  redact,
  retry,
  type Tool,
  timeout,
} from 'toolwright'
import { describe, expect, test } from 'vitest'
import { createScenario, declarationsOf, plainTool, responsesOf, runMessage, runScenario } from './kit.ts'

describe('a long-running tool', () => {
  const ask = (): Tool => plainTool('ask_boss', () => ({ ticket: 7 }))
  const steps = [{ calls: [{ name: 'ask_boss', id: 'c1', args: { days: 3 } }] }, 'Enjoy your holiday.']
  const answer = (response: object, id = 'c1') => [
    { functionResponse: { id, name: 'ask_boss', response: response as { [key: string]: unknown } } },
  ]

  test('is listed in longRunningToolIds of the call event, or of the response event when the body decides', async () => {
    const decides = plainTool('decides', (_, context) => {
      context.longRunning = true
      return { ticket: 8 }
    })
    const { runner } = createScenario({
      tools: [longRunning(ask()), decides, plainTool('quick', () => 1)],
      calls: [
        { id: 'q1', name: 'quick' },
        { id: 'c1', name: 'ask_boss', args: { days: 3 } },
        { id: 'd1', name: 'decides' },
      ],
    })
    const { events, pending, text } = await runner.complete({ userId: 'ada', message: 'holiday?' })
    expect(events.map(({ longRunningToolIds }) => longRunningToolIds)).toEqual([['c1'], ['d1']])
    expect(pending.map(({ id }) => id)).toEqual(['c1', 'd1'])
    expect(text).toBe('')
    expect(isFinalResponse(events[0] as Event)).toBe(true)
  })

  test('pauses the run, and its result continues the same invocation', async () => {
    const { runner, model } = createScenario({ tools: [longRunning(ask())], steps })
    const first = await runner.complete({ userId: 'ada', message: 'holiday?' })
    expect(first.text).not.toContain('Enjoy')
    const [called, handled] = first.events
    expect(called?.content?.parts[0]?.functionCall?.id).toBe('c1')
    expect(called?.longRunningToolIds).toEqual(['c1']) // adk-web reads the call id here
    expect(handled?.longRunningToolIds).toBeUndefined()
    expect(handled?.content?.parts).toEqual([
      { functionResponse: { id: 'c1', name: 'ask_boss', response: { ticket: 7 }, willContinue: true } },
    ])
    const { sessionId, invocationId } = first
    expect(first.pending).toEqual([
      expect.objectContaining({
        id: 'c1',
        kind: 'longRunning',
        functionCallId: 'c1',
        tool: 'ask_boss',
        args: { days: 3 },
        agent: 'agent',
        userId: 'ada',
        sessionId,
        invocationId,
      }),
    ])
    expect(model.requests).toHaveLength(1)

    const second = await runner.complete({ userId: 'ada', sessionId, message: answer({ granted: true }) })
    expect(second.text).toBe('Enjoy your holiday.')
    expect(second.invocationId).toBe(invocationId)
    expect(second.pending).toEqual([])
    const shown = model.requests[1]?.contents.flatMap((content) =>
      content.parts.flatMap((part) => part.functionResponse ?? []),
    )
    expect(shown).toEqual([{ id: 'c1', name: 'ask_boss', response: { granted: true } }])
  })

  test('tells the model not to call the tool again', async () => {
    const { model } = await runScenario({ tools: [longRunning(longRunning(ask()))], steps: ['hi'] })
    expect(String(declarationsOf(model)[0]?.description).match(/do not call the tool again/g)).toHaveLength(1)
  })

  test.each<[string, (tool: Tool) => Tool]>([
    ['cached', (tool) => cached(longRunning(tool))],
    ['outside a cache', (tool) => longRunning(cached(tool))],
    ['retried', (tool) => longRunning(retry(tool, { attempts: 2 }))],
    ['limited', (tool) => concurrency(timeout(longRunning(tool), 1_000), 1)],
    ['redacted', (tool) => redact(longRunning(tool), ['secret'])],
  ])('stays long-running when it is %s', async (_, wrap) => {
    const { runner } = createScenario({ tools: [wrap(ask())], steps })
    const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'holiday?' })
    expect(pending.map(({ id }) => id)).toEqual(['c1'])
    const { text } = await runner.complete({ userId: 'ada', sessionId, message: answer({ ok: 1 }) })
    expect(text).toBe('Enjoy your holiday.')
  })

  test('may finish at once or become long-running in its body', async () => {
    const quick = plainTool(
      'quick',
      (_, context) => {
        context.longRunning = false
        return 'done'
      },
      { isLongRunning: true },
    )
    const slow = plainTool('slow', (_, context) => {
      context.longRunning = true
      return 'started'
    })
    const { runner } = createScenario({
      tools: [quick, slow],
      steps: [
        {
          calls: [
            { name: 'quick', id: 'q' },
            { name: 'slow', id: 's' },
          ],
        },
        'x',
      ],
    })
    const { pending, events } = await runner.complete({ userId: 'ada', message: 'go' })
    expect(pending.map(({ id }) => id)).toEqual(['s'])
    expect(responsesOf(events).map(({ id, willContinue }) => [id, willContinue])).toEqual([
      ['q', undefined],
      ['s', true],
    ])
  })

  test('that throws returns an error and does not become pending', async () => {
    const broken = plainTool('ask_boss', () => {
      throw new Error('no boss')
    })
    const { response, text } = await runScenario({ tools: [longRunning(broken)], steps })
    expect(response).toEqual({ error: 'no boss', errorCode: 'EXECUTION_FAILED' })
    expect(text).toBe('Enjoy your holiday.')
  })

  test('stays pending after a partial result and completes with the final result', async () => {
    const { runner } = createScenario({ tools: [longRunning(ask())], steps })
    const { sessionId } = await runner.complete({ userId: 'ada', message: 'holiday?' })
    const still = [{ functionResponse: { id: 'c1', name: 'ask_boss', response: { seen: true }, willContinue: true } }]
    const waiting = await runner.complete({ userId: 'ada', sessionId, message: still })
    expect(waiting.pending.map(({ id }) => id)).toEqual(['c1'])
    const { text } = await runner.complete({ userId: 'ada', sessionId, message: answer({ ok: 1 }) })
    expect(text).toBe('Enjoy your holiday.')
  })

  test('rejects a result with an unknown id or from another user', async () => {
    const { runner, model } = createScenario({ tools: [longRunning(ask())], steps })
    const { sessionId } = await runMessage(runner, model)
    for (const id of ['nope', '__proto__', '']) {
      await expect(runner.complete({ userId: 'ada', sessionId, message: answer({}, id) })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
    }
    await expect(runner.complete({ userId: 'eve', sessionId, message: answer({}) })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    expect(model.requests).toHaveLength(1)
  })

  test('keeps sibling responses and asks the model once when all results have arrived', async () => {
    const tools = [longRunning(ask()), plainTool('quick', () => 'ok'), longRunning(plainTool('ask_hr', () => 'asked'))]
    const calls = [
      { name: 'ask_boss', id: 'c1' },
      { name: 'quick', id: 'c2' },
      { name: 'ask_hr', id: 'c3' },
    ]
    const { runner, model } = createScenario({ tools, steps: [{ calls }, 'All set.'] })
    const first = await runner.complete({ userId: 'ada', message: 'go' })
    const { sessionId } = first
    expect(first.pending.map(({ id }) => id)).toEqual(['c1', 'c3'])
    const half = await runner.complete({ userId: 'ada', sessionId, message: answer({ yes: 1 }) })
    expect(half.pending.map(({ id }) => id)).toEqual(['c3'])
    expect(model.requests).toHaveLength(1)
    const message = [{ functionResponse: { id: 'c3', name: 'ask_hr', response: { yes: 2 } } }]
    expect((await runner.complete({ userId: 'ada', sessionId, message })).text).toBe('All set.')
    const shown = model.requests[1]?.contents.at(-1)?.parts.map((part) => part.functionResponse?.response)
    expect(shown).toEqual([{ yes: 1 }, { result: 'ok' }, { yes: 2 }])
  })
})
