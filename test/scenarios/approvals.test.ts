// A human is asked, in one process, and answers in another.
import { approve, deny, InMemorySessionService, LlmAgent, type LlmAgentOptions, Runner, tool } from 'toolwright'
import { type ScriptedModel, type Step, scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { quiet } from './kit.ts'

const where = { userId: 'ada', sessionId: 's1' }

interface Story {
  readonly tools: LlmAgentOptions['tools']
  readonly steps: readonly Step[]
  readonly agent?: Partial<LlmAgentOptions>
  readonly sessionService?: InMemorySessionService
  readonly now?: () => number
}

function stage(story: Story): { runner: Runner; model: ScriptedModel; sessionService: InMemorySessionService } {
  const sessionService = story.sessionService ?? new InMemorySessionService()
  const model = scriptedModel(story.steps)
  const agent = new LlmAgent({ name: 'agent', model, tools: story.tools, ...story.agent })
  const ports = story.now ? { now: story.now } : {}
  return { model, sessionService, runner: new Runner({ appName: 'app', agent, sessionService, logger: quiet, ports }) }
}

function refundTool(run = vi.fn((args: { amount: number }) => ({ refunded: args.amount }))) {
  const refund = tool({
    name: 'refund',
    description: 'Refund money',
    parameters: z.object({ amount: z.number() }),
    requiresConfirmation: true,
    run: (args) => run(args),
  })
  return { refund, run }
}

const calls = (amount = 5): Step => ({ calls: [{ id: 'c1', name: 'refund', args: { amount } }] })

describe('a call that needs a yes', () => {
  test('waits, is shown on the wire as ADK shows it, and asks the model nothing meanwhile', async () => {
    const { refund, run } = refundTool()
    const { runner, model } = stage({ tools: [refund], steps: [calls()] })
    const { events, pending } = await runner.complete({ ...where, message: 'go' })
    expect(run).not.toHaveBeenCalled()
    model.assertComplete()
    const hint = 'Approve execution of tool `refund`?'
    expect(pending).toMatchObject([
      { kind: 'confirmation', functionCallId: 'c1', tool: 'refund', args: { amount: 5 }, hint, agent: 'agent' },
    ])
    const id = pending[0]?.id
    expect(events.at(-1)).toMatchObject({
      author: 'agent',
      longRunningToolIds: [id],
      actions: { skipSummarization: true, requestedToolConfirmations: { c1: { hint, confirmed: false } } },
      content: {
        role: 'model',
        parts: [
          {
            functionCall: {
              id,
              name: 'adk_request_confirmation',
              args: {
                originalFunctionCall: { id: 'c1', name: 'refund', args: { amount: 5 } },
                toolConfirmation: { hint, confirmed: false },
              },
            },
          },
        ],
      },
    })
  })

  test('runs once when it is approved by another process, with the payload', async () => {
    const { refund, run } = refundTool()
    const first = stage({ tools: [refund], steps: [calls()] })
    const { pending } = await first.runner.complete({ ...where, message: 'go' })
    const second = stage({ tools: [refund], steps: ['done'], sessionService: first.sessionService })
    const [request] = pending
    const { text } = await second.runner.complete({ ...where, message: [approve(request as never)] })
    expect(text).toBe('done')
    expect(run).toHaveBeenCalledOnce()
    const seen = second.model.requests[0]?.contents.map(({ role, parts }) => [role, Object.keys(parts[0] ?? {})[0]])
    expect(seen).toEqual([
      ['user', 'text'],
      ['model', 'functionCall'],
      ['tool', 'functionResponse'],
    ])
  })

  test('does not run when it is denied, and the model is told why', async () => {
    const { refund, run } = refundTool()
    const { runner, model } = stage({ tools: [refund], steps: [calls(), 'sorry'] })
    const { pending } = await runner.complete({ ...where, message: 'go' })
    await runner.complete({ ...where, message: [deny(pending[0] as never, { reason: 'too much' })] })
    expect(run).not.toHaveBeenCalled()
    expect(model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toEqual({
      error: 'tool call was rejected by the user: too much',
      errorCode: 'CANCELLED',
    })
  })
})
