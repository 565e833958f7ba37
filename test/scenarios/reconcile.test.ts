// What happens to a call whose process died between the effect and its record, when its tool can find out.
import { type Tool, tool } from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import { finals, process, say, stored, where } from './approvals-kit.ts'
import { FailingStore } from './kit.ts'

function payTool(reconcile: NonNullable<Tool['reconcile']>): { pay: Tool; run: ReturnType<typeof vi.fn> } {
  const run = vi.fn(() => ({ paid: true }))
  const pay = tool({ name: 'pay', description: 'Pay', effect: 'reconcilable', timeoutMs: 20, reconcile, run })
  return { pay, run }
}

/** A run whose response could not be stored, resumed with a working store. */
async function interruptedRun(reconcile: NonNullable<Tool['reconcile']>) {
  const store = new FailingStore()
  const { pay, run } = payTool(reconcile)
  const steps = [{ calls: [{ id: 'c1', name: 'pay' }] }]
  await expect(say(process(store, { tools: [pay], steps }).runner)).rejects.toMatchObject({ code: 'STORAGE' })
  store.isFailing = false
  const { runner } = process(store, { tools: [pay], steps: ['done'] })
  for await (const _ of runner.resume(where));
  return { run, responses: finals(await stored(store)) }
}

describe('reconcile', () => {
  test('that never ends is given up at the deadline of its tool: the outcome is unknown and the body is not run', async () => {
    let signal: AbortSignal | undefined
    const { run, responses } = await interruptedRun(({ context }) => {
      signal = context.signal
      return new Promise(() => {})
    })
    expect(responses).toEqual({
      c1: {
        status: 'unknown_outcome',
        errorCode: 'UNKNOWN_OUTCOME',
        error: expect.stringContaining('reconcile of pay timed out after 20 ms'),
      },
    })
    expect(run).toHaveBeenCalledOnce() // before the crash
    expect(signal?.aborted).toBe(true)
  })

  test('that ends in time decides: what it found is the result', async () => {
    const { run, responses } = await interruptedRun(async () => ({ status: 'done', result: { paid: 'found' } }))
    expect(responses).toEqual({ c1: { paid: 'found' } })
    expect(run).toHaveBeenCalledOnce()
  })

  test('that finds nothing done lets the body run again', async () => {
    const { run, responses } = await interruptedRun(() => ({ status: 'not-done' }))
    expect(responses).toEqual({ c1: { paid: true } })
    expect(run).toHaveBeenCalledTimes(2)
  })
})
