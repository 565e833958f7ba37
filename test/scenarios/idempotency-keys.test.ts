// Idempotency keys: equal for attempts of one call, different for different calls.
import { type Effect, retry, type Tool } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { sendMessage, startProcess, where } from './approvals-kit.ts'
import { plainTool } from './kit.ts'
import { clockedStores, hangInBody, LEASE_MS, resumeSession } from './lease-kit.ts'

const call = { name: 'work', args: { amount: 5 } }

describe.each(clockedStores)('with sessions %s', (_, newStore) => {
  const keyed = (effect: Effect, run: Tool['run']): Tool => ({
    ...plainTool('work', run),
    effect,
    ...(effect === 'reconcilable' && { reconcile: () => ({ status: 'unknown' }) }),
  })

  test('the idempotency key is the same for every attempt of a call [PR-03]', async () => {
    const keys: string[] = []
    const work = keyed('idempotent', (_args, { idempotencyKey }) => {
      if (keys.push(idempotencyKey) < 3) throw new Error('try again')
      return { ok: true }
    })
    const tools = [retry(work, { attempts: 3, delayMs: 0 })]
    const { runner } = startProcess(newStore({ time: 0 }), {
      tools,
      steps: [{ calls: [{ ...call, id: 'c1' }] }, 'done'],
    })
    const { text, invocationId } = await sendMessage(runner)
    expect(text).toBe('done')
    expect(keys).toEqual(Array(3).fill(`${invocationId}/c1`))
  })

  test('the idempotency key is the same in the process that resumes after a crash [PR-03]', async () => {
    const clock = { time: 0 }
    const store = newStore(clock)
    const left = await hangInBody(store, (run) => keyed('idempotent', run), [{ calls: [call] }])
    clock.time += LEASE_MS
    const keys: string[] = []
    const again = keyed('idempotent', (_args, { idempotencyKey }) => void keys.push(idempotencyKey))
    expect(await resumeSession(startProcess(store, { tools: [again], steps: ['done'] }).runner)).toBe('done')
    expect(keys).toEqual([left.key])
  })

  test('reconcile gets the idempotency key of the interrupted call [PR-03]', async () => {
    const clock = { time: 0 }
    const store = newStore(clock)
    const left = await hangInBody(store, (run) => keyed('reconcilable', run), [{ calls: [call] }])
    clock.time += LEASE_MS
    const keys: string[] = []
    const again: Tool = {
      ...keyed('reconcilable', () => keys.push('ran')),
      reconcile: ({ idempotencyKey }) => {
        keys.push(idempotencyKey)
        return { status: 'done', result: { ok: true } }
      },
    }
    expect(await resumeSession(startProcess(store, { tools: [again], steps: ['done'] }).runner)).toBe('done')
    expect(keys).toEqual([left.key])
  })

  test('the idempotency key differs between equal calls of one batch, of one run, of one session and of two sessions [PR-03]', async () => {
    const store = newStore({ time: 0 })
    const keys: string[] = []
    const work = keyed('atMostOnce', (_args, { idempotencyKey }) => void keys.push(idempotencyKey))
    const twice = {
      calls: [
        { ...call, id: 'c1' },
        { ...call, id: 'c1' },
      ],
    }
    const { runner } = startProcess(store, {
      tools: [work],
      steps: [twice, twice, 'done', twice, 'done', twice, 'done'],
      agent: { maxIterations: 99 },
    })
    await runner.complete({ ...where, message: 'go' })
    await runner.complete({ ...where, sessionId: 's2', message: 'go' })
    await runner.complete({ ...where, userId: 'eve', message: 'go' })
    expect(keys).toHaveLength(8)
    expect(new Set(keys).size).toBe(8)
  })

  test('the idempotency key contains an invocation id that the model never sees and cannot choose [PR-03]', async () => {
    const keys: string[] = []
    const work = keyed('atMostOnce', (_args, { idempotencyKey }) => {
      keys.push(idempotencyKey)
      return { ok: true }
    })
    const forged = { ...call, id: 'e-1/c1' }
    const { runner, model } = startProcess(newStore({ time: 0 }), {
      tools: [work],
      steps: [{ calls: [forged, { ...call, id: 'c2' }] }, 'done', 'and done'],
    })
    const { invocationId } = await sendMessage(runner)
    await sendMessage(runner, 'and now?')
    expect(invocationId).toMatch(/^e-[a-z2-7]{26}$/) // 130 random bits
    expect(keys.map((key) => key.split('/'))).toEqual([
      [invocationId, expect.stringMatching(/^adk-/)],
      [invocationId, 'c2'],
    ])
    const shown = JSON.stringify(model.requests.map(({ contents, config }) => ({ contents, config })))
    expect(shown).toContain('"c2"')
    expect(shown).not.toContain(invocationId)
  })
})
