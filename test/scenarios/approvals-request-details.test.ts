// What the approver sees of pending requests: hints, schemas and expiry.
import { approve, getUserChoice, tool } from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { refundReply, refundTool, requestFor, sendMessage, startProcess, stores } from './approvals-kit.ts'
import { plainTool, recordingLogger } from './kit.ts'

const DAY = 24 * 60 * 60 * 1000

describe.each(stores)('the runner with sessions %s', (_name, newStore) => {
  test('does not list an expired request next to an open one', async () => {
    let now = 1_000_000
    const store = newStore()
    const { refund } = refundTool()
    const brief = plainTool('brief', () => ({}), { requiresConfirmation: true, expiresInMs: 1_000 })
    const calls = ['refund', 'brief'].map((name, at) => ({ id: `c${at + 1}`, name, args: { amount: 5 } }))
    const steps = [{ calls }, 'done']
    const { runner } = startProcess(store, { tools: [refund, brief], steps, runner: { ports: { now: () => now } } })
    await sendMessage(runner)
    const listed = async () => (await runner.pending()).map(({ functionCallId }) => functionCallId)
    now += 999
    expect(await listed()).toEqual(['c1', 'c2'])
    now += 1
    expect(await listed()).toEqual(['c1'])
    now += DAY
    expect(await listed()).toEqual([])
    expect(await store.pending({ appName: 'app' })).toHaveLength(2) // listing records nothing
  })

  test('shows the prompt and the options of get_user_choice as hint and schema', async () => {
    const args = { prompt: 'Which?', options: ['tea', 'coffee'] }
    const steps = [{ calls: [{ id: 'u1', name: 'get_user_choice', args }] }, 'done']
    const { runner } = startProcess(newStore(), { tools: [getUserChoice()], steps })
    const { pending } = await sendMessage(runner)
    expect(requestFor(pending)).toMatchObject({ hint: 'Which?', schema: { enum: ['tea', 'coffee'] } })
  })

  test('builds the hint from parsed arguments', async () => {
    const run = vi.fn(({ at }: { at: Date }) => ({ booked: at.toISOString() }))
    const book = tool({
      name: 'book',
      description: 'Book',
      parameters: z.object({ at: z.string().transform((text) => new Date(text)) }),
      requiresConfirmation: true,
      confirmationHint: ({ at }) => `Book for ${at.getUTCFullYear()}?`,
      run,
    })
    const at = '2031-05-01T00:00:00.000Z'
    const steps = [{ calls: [{ id: 'c1', name: 'book', args: { at } }] }, 'done']
    const { runner } = startProcess(newStore(), { tools: [book], steps })
    const { pending } = await sendMessage(runner)
    expect(requestFor(pending).hint).toBe('Book for 2031?')
    await sendMessage(runner, [approve(requestFor(pending))])
    expect(run.mock.results.map(({ value }) => value)).toEqual([{ booked: at }])
  })

  test('logs a confirmationHint that throws and uses the default hint', async () => {
    const logger = recordingLogger()
    const { refund, run } = refundTool({
      confirmationHint: () => {
        throw new Error('no words')
      },
    })
    const { runner } = startProcess(newStore(), {
      tools: [refund],
      steps: [refundReply(5), 'done'],
      runner: { logger },
    })
    const { pending } = await sendMessage(runner)
    expect(requestFor(pending).hint).toBe('Approve execution of tool `refund`?')
    expect(logger.lines).toEqual(['confirmationHint of tool "refund" failed: no words. The default hint is used.'])
    await sendMessage(runner, [approve(requestFor(pending))])
    expect(run).toHaveBeenCalledOnce()
  })
})
