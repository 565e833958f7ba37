// Confirmation gates: predicates, hints, and arguments that beforeTool changes around an approval.
import { approve, type BeforeTool, tool } from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  finalResponses,
  refundReply,
  refundTool,
  requestFor,
  sendMessage,
  startProcess,
  stores,
} from './approvals-kit.ts'
import { ManualTimers, waitUntil } from './kit.ts'

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  describe('beforeTool', () => {
    test('shows arguments changed by beforeTool in the confirmation and runs them after the approval', async () => {
      const { refund, run } = refundTool()
      const beforeTool: BeforeTool = ({ args }) => ({ args: { amount: Math.min(Number(args.amount), 10) } })
      const { runner } = startProcess(newStore(), {
        tools: [refund],
        steps: [refundReply(500), 'done'],
        agent: { beforeTool },
      })
      const { pending } = await sendMessage(runner)
      expect(requestFor(pending).args).toEqual({ amount: 10 })
      await sendMessage(runner, [approve(requestFor(pending))])
      expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 10 })
    })

    test('requests another confirmation when beforeTool changes the arguments after the approval, then refuses the call', async () => {
      const { refund, run } = refundTool()
      let amount = 5
      const beforeTool: BeforeTool = () => ({ args: { amount: amount++ } })
      const { runner } = startProcess(newStore(), {
        tools: [refund],
        steps: [refundReply(5), 'done'],
        agent: { beforeTool },
      })
      const first = await sendMessage(runner)
      const second = await sendMessage(runner, [approve(requestFor(first.pending))])
      expect(requestFor(second.pending)).toMatchObject({
        args: { amount: 6 },
        hint: expect.stringContaining('differ from the approved'),
      })
      const third = await sendMessage(runner, [approve(requestFor(second.pending))])
      expect(run).not.toHaveBeenCalled()
      expect(finalResponses(third.events).c1).toMatchObject({ errorCode: 'CANCELLED' })
      expect(third.text).toBe('done')
    })

    test('runs the call after a second approval when beforeTool no longer changes the arguments', async () => {
      const { refund, run } = refundTool()
      const amounts = [5, 6, 6]
      const beforeTool: BeforeTool = () => ({ args: { amount: amounts.shift() } })
      const { runner } = startProcess(newStore(), {
        tools: [refund],
        steps: [refundReply(5), 'done'],
        agent: { beforeTool },
      })
      const first = await sendMessage(runner)
      const second = await sendMessage(runner, [approve(requestFor(first.pending))])
      await sendMessage(runner, [approve(requestFor(second.pending))])
      expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 6 })
    })

    test('does not run the body before the answer to a confirmation requested by beforeTool', async () => {
      const { refund, run } = refundTool({ requiresConfirmation: false })
      const beforeTool: BeforeTool = ({ context }) => context.requestConfirmation({ hint: 'The policy asks.' })
      const { runner } = startProcess(newStore(), {
        tools: [refund],
        steps: [refundReply(5), 'done'],
        agent: { beforeTool },
      })
      const { pending } = await sendMessage(runner)
      expect(run).not.toHaveBeenCalled()
      expect(requestFor(pending).hint).toBe('The policy asks.')
      expect((await sendMessage(runner, [approve(requestFor(pending))])).text).toBe('done')
      expect(run).toHaveBeenCalledOnce()
    })
  })

  describe('confirmation predicate', () => {
    const played = async (requiresConfirmation: (args: { amount: number }) => unknown, amount = 5) => {
      const { refund, run } = refundTool({ requiresConfirmation: requiresConfirmation as never })
      const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(amount), 'done'] })
      return { run, runner, ...(await sendMessage(runner)) }
    }

    test('runs the call without a confirmation when the predicate returns false [DG-16]', async () => {
      const { run, pending } = await played(({ amount }) => amount > 100)
      expect(pending).toEqual([])
      expect(run).toHaveBeenCalledOnce()
    })

    test.each<[string, () => unknown]>([
      ['returns true', () => true],
      ['returns undefined', () => undefined],
      ['returns 0', () => 0],
      [
        'throws',
        () => {
          throw new Error('broken')
        },
      ],
      ['rejects', () => Promise.reject(new Error('broken'))],
      ['resolves to a string', async () => 'false'],
    ])('requests a confirmation when the predicate %s [DG-16]', async (_name, predicate) => {
      const { run, pending } = await played(predicate)
      expect(pending).toHaveLength(1)
      expect(run).not.toHaveBeenCalled()
    })

    test('ignores changes that the predicate makes to the arguments [DG-16]', async () => {
      const { run, runner, pending } = await played((args) => {
        args.amount = 999
        return true
      })
      expect(requestFor(pending).args).toEqual({ amount: 5 })
      await sendMessage(runner, [approve(requestFor(pending))])
      expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
    })

    test('ignores changes that the predicate makes to values parsed by the schema', async () => {
      const run = vi.fn((args: { at: Date }) => args.at.getTime())
      const book = tool({
        name: 'book',
        description: 'Book',
        parameters: z.object({ at: z.iso.datetime().pipe(z.coerce.date()) }),
        requiresConfirmation: ({ at }) => {
          at.setTime(0)
          return false
        },
        run: (args) => run(args),
      })
      const steps = [{ calls: [{ name: 'book', args: { at: '2030-01-01T00:00:00Z' } }] }, 'done']
      await sendMessage(startProcess(newStore(), { tools: [book], steps }).runner)
      expect(run).toHaveReturnedWith(Date.UTC(2030, 0, 1))
    })

    test('requests a confirmation when the predicate hangs for five seconds [DG-16]', async () => {
      const timers = new ManualTimers()
      const { refund, run } = refundTool({ requiresConfirmation: () => new Promise<boolean>(() => {}) })
      const { runner } = startProcess(newStore(), {
        tools: [refund],
        steps: [refundReply(5), 'done'],
        runner: { ports: timers.ports },
      })
      const completion = sendMessage(runner)
      await waitUntil(() => timers.count(5_000) === 2) // the other one renews the lease
      await timers.fire(5_000)
      await timers.fire(5_000)
      const { pending } = await completion
      expect(run).not.toHaveBeenCalled()
      await sendMessage(runner, [approve(requestFor(pending))]) // the predicate is not called again
      expect(run).toHaveBeenCalledOnce()
    })

    test('sets no timer that outlives a predicate that returns in time', async () => {
      const timers = new ManualTimers()
      const { refund } = refundTool({ requiresConfirmation: async () => false })
      const story = { tools: [refund], steps: [refundReply(5), 'done'], runner: { ports: timers.ports } }
      await sendMessage(startProcess(newStore(), story).runner)
      expect(timers.count(5_000)).toBeLessThanOrEqual(1) // the lease renewal
    })
  })

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['returns a number', () => 7],
    ['returns a promise', async () => 'later'],
    ['returns an empty string', () => ''],
  ])('uses the default hint when confirmationHint %s', async (_name, confirmationHint) => {
    const { refund } = refundTool({ confirmationHint: confirmationHint as never })
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5), 'done'] })
    const { pending } = await sendMessage(runner)
    expect(requestFor(pending).hint).toBe('Approve execution of tool `refund`?')
  })

  test('builds the hint from the arguments with confirmationHint', async () => {
    const { refund } = refundTool({ confirmationHint: (args) => `Refund ${args.amount}?` })
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5), 'done'] })
    expect(requestFor((await sendMessage(runner)).pending).hint).toBe('Refund 5?')
  })
})
