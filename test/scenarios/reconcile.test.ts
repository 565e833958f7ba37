// reconcile: resumes a call whose process died between the side effect and its response.
import { type Tool, tool } from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import { finalResponses, sendMessage, startProcess, storedEvents, where } from './approvals-kit.ts'
import { FailingStore } from './kit.ts'

function payTool(reconcile: NonNullable<Tool['reconcile']>): { pay: Tool; run: ReturnType<typeof vi.fn> } {
  const run = vi.fn(() => ({ paid: true }))
  const pay = tool({ name: 'pay', description: 'Pay', effect: 'reconcilable', timeoutMs: 20, reconcile, run })
  return { pay, run }
}

/** Runs a call whose response could not be stored, and resumes it with a working store. */
async function interruptedRun(reconcile: NonNullable<Tool['reconcile']>) {
  const store = new FailingStore()
  const { pay, run } = payTool(reconcile)
  const steps = [{ calls: [{ id: 'c1', name: 'pay' }] }]
  await expect(sendMessage(startProcess(store, { tools: [pay], steps }).runner)).rejects.toMatchObject({
    code: 'STORAGE',
  })
  store.isFailing = false
  const { runner } = startProcess(store, { tools: [pay], steps: ['done'] })
  for await (const _ of runner.resume(where));
  return { run, responses: finalResponses(await storedEvents(store)) }
}

describe('reconcile', () => {
  test('that hangs is given up at the timeout of the tool: the outcome is unknown and the body does not run', async () => {
    let signal: AbortSignal | undefined
    const { run, responses } = await interruptedRun(({ context }) => {
      signal = context.signal
      return new Promise(() => {})
    })
    expect(responses).toEqual({
      c1: {
        status: 'unknown_outcome',
        errorCode: 'UNKNOWN_OUTCOME',
        error: expect.stringContaining('reconcile of tool "pay" timed out after 20 ms'),
      },
    })
    expect(run).toHaveBeenCalledOnce() // before the crash
    expect(signal?.aborted).toBe(true)
  })

  test('that returns done answers the call with its result', async () => {
    const { run, responses } = await interruptedRun(async () => ({ status: 'done', result: { paid: 'found' } }))
    expect(responses).toEqual({ c1: { paid: 'found' } })
    expect(run).toHaveBeenCalledOnce()
  })

  test('that returns not-done runs the body again', async () => {
    const { run, responses } = await interruptedRun(() => ({ status: 'not-done' }))
    expect(responses).toEqual({ c1: { paid: true } })
    expect(run).toHaveBeenCalledTimes(2)
  })
})
