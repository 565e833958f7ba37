// reconcile: resumes a call whose process died between the side effect and its response.
import { type Tool, tool } from 'toolwright'
import { attachInferred } from 'toolwright/infer'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { finalResponses, sendMessage, startProcess, storedEvents, where } from './approvals-kit.ts'
import { FailingStore } from './kit.ts'

function payTool(reconcile: NonNullable<Tool['reconcile']>): { pay: Tool; run: ReturnType<typeof vi.fn> } {
  const run = vi.fn(() => ({ paid: true }))
  const pay = tool({ name: 'pay', description: 'Pay', effect: 'reconcilable', timeoutMs: 20, reconcile, run })
  return { pay, run }
}

async function interruptedRun(reconcile: NonNullable<Tool['reconcile']>) {
  const { pay, run } = payTool(reconcile)
  return { run, responses: await interruptAndResume(pay, {}) }
}

/** Runs a call whose response could not be stored, and resumes it with a working store. */
async function interruptAndResume(pay: Tool, args: object): Promise<object> {
  const store = new FailingStore()
  const steps = [{ calls: [{ id: 'c1', name: 'pay', args: { ...args } }] }]
  await expect(sendMessage(startProcess(store, { tools: [pay], steps }).runner)).rejects.toMatchObject({
    code: 'STORAGE',
  })
  store.isFailing = false
  const { runner } = startProcess(store, { tools: [pay], steps: ['done'] })
  for await (const _ of runner.resume(where));
  return finalResponses(await storedEvents(store))
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

  test('and toModelOutput of a plain function get the dates and bytes that its body gets', async () => {
    const seen: unknown[] = []
    const pay = ({ at, data }: { at: Date; data: Uint8Array }): void => {
      seen.push({ at, data })
    }
    const properties = {
      at: { type: 'string', 'x-toolwright-type': 'Date' },
      data: { type: 'string', 'x-toolwright-type': 'Uint8Array' },
    }
    const call = [{ allArguments: true } as const]
    attachInferred(pay, { name: 'pay', description: 'Pay', parameters: { type: 'object', properties }, call })
    const made = tool(pay, {
      effect: 'reconcilable',
      reconcile: ({ args }) => {
        seen.push(args)
        return { status: 'done', result: 'paid' }
      },
      toModelOutput: ({ args }) => seen.push(args),
    })
    await interruptAndResume(made, { at: '2026-01-31T12:00:00Z', data: 'AQI=' })
    const args = { at: new Date('2026-01-31T12:00:00Z'), data: new Uint8Array([1, 2]) }
    expect(seen).toEqual([args, args, args, args])
  })

  test('gets the defaults and transformed values of the schema', async () => {
    const reconcile = vi.fn(() => ({ status: 'done', result: 1 }) as const)
    const parameters = z.object({ name: z.string().toUpperCase(), amount: z.number().default(5) })
    const pay = tool({
      name: 'pay',
      description: 'Pay',
      parameters,
      effect: 'reconcilable',
      reconcile,
      run: () => {},
    })
    await interruptAndResume(pay, { name: 'ada' })
    expect(reconcile).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ args: { name: 'ADA', amount: 5 } }))
  })

  test('gets the recorded arguments if the schema has changed and refuses them', async () => {
    const reconcile = vi.fn(() => ({ status: 'done', result: 1 }) as const)
    const parameters = z.object({ amount: z.number().refine(() => accepts.shift()) })
    const accepts = [true, false]
    const pay = tool({ name: 'pay', description: 'Pay', parameters, effect: 'reconcilable', reconcile, run: () => {} })
    await interruptAndResume(pay, { amount: 5 })
    expect(reconcile).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ args: { amount: 5 } }))
  })
})
