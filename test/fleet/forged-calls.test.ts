// Every client that reaches the ingress, or the port of a worker, can try to call a handler.
import { approve } from 'toolwright'
import { sealCall } from 'toolwright/restate'
import { describe, expect, inject, test } from 'vitest'
import { keyOfSession, SWEEP_KEY, sessionServiceOf, sweepServiceOf } from '../../src/apps/restate/names.ts'
import { ADA, type Fleet, openFleet, postToIngress, SECRET } from './fleet.test-kit.ts'
import { invokeWorker } from './invoke-worker.test-kit.ts'
import { payingDesk } from './paying-desk.test-kit.ts'

const EVE = { userId: 'eve', sessionId: 's1' }
const WEEK = 7 * 86_400_000

/** A fleet whose session of Ada waits for an approval. */
async function waitingFleet() {
  const { agent, charged } = payingDesk()
  const fleet = await openFleet(agent)
  const worker = await fleet.startWorker()
  expect((await fleet.call('run', { message: 'Charge.', id: 'm1' })).status).toBe(200)
  const [request] = await fleet.web.pending(ADA)
  if (!request) throw new Error('Nothing is pending.')
  return { fleet, worker, charged, message: [approve(request)] }
}

function targetOf({ appName }: Fleet, handler: string, session = ADA) {
  return { service: sessionServiceOf(appName), key: keyOfSession(session), handler }
}

describe.skipIf(!inject('restate'))('a call of the ingress', () => {
  test('runs nothing without a signature, with one for something else, and with one that has expired', async () => {
    const { fleet, charged, message } = await waitingFleet()
    const target = targetOf(fleet, 'answer')
    const now = Date.now()
    const forged = [
      { message },
      { body: JSON.stringify({ message }), id: 'x', expires: now + WEEK, signature: 'A'.repeat(43) },
      sealCall('a guess that is as long as a secret', target, { message }, now),
      sealCall(SECRET, targetOf(fleet, 'run'), { message }, now),
      sealCall(SECRET, targetOf(fleet, 'answer', EVE), { message }, now),
      sealCall(SECRET, { ...target, service: 'toolwright-bank' }, { message }, now),
      { ...sealCall(SECRET, target, {}, now), body: JSON.stringify({ message }) },
    ]
    for (const call of forged) {
      const response = await postToIngress(target, call)
      expect([response.status, await response.text()]).toEqual([401, expect.stringContaining('UNAUTHENTICATED')])
    }
    const expired = await postToIngress(target, sealCall(SECRET, target, { message }, now - WEEK - 60_000))
    expect([expired.status, await expired.text()]).toEqual([410, expect.stringContaining('EXPIRED')])
    for (const body of ['', 'null', '[]', '{"a":', '"text"']) {
      const { status } = await postToIngress(target, body)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(status).toBeLessThan(500)
    }
    expect(charged).toEqual([])
    expect(await fleet.web.pending(ADA)).toHaveLength(1)

    const honest = await postToIngress(target, sealCall(SECRET, target, { message }, now))
    expect(honest.status).toBe(200)
    expect(charged).toEqual(['s1'])
  })

  test('that is sent a second time takes effect once', async () => {
    const { agent, charged } = payingDesk({ isGated: false })
    const fleet = await openFleet(agent)
    await fleet.startWorker()
    const target = targetOf(fleet, 'run')
    const call = sealCall(SECRET, target, { message: 'Charge.' }, Date.now())
    for (let sent = 0; sent < 2; sent++) expect((await postToIngress(target, call)).status).toBe(200)
    expect(charged).toEqual(['s1'])
    const another = sealCall(SECRET, target, { message: 'Charge.' }, Date.now())
    expect((await postToIngress(target, another)).status).toBe(200)
    expect(charged).toEqual(['s1', 's1'])
  })

  test.each(['wake', 'run', 'answer', 'resume', 'cancel'])('needs a signature for the handler %s', async (handler) => {
    const { agent } = payingDesk()
    const fleet = await openFleet(agent)
    await fleet.startWorker()
    const response = await postToIngress(targetOf(fleet, handler), { message: 'Charge.' })
    expect([response.status, await response.text()]).toEqual([401, expect.stringContaining('UNAUTHENTICATED')])
    expect(await fleet.sessionService.getSession({ appName: fleet.appName, ...ADA })).toBeUndefined()
  })

  test.each(['start', 'sweep'])('needs a signature for the handler %s of the sweep', async (handler) => {
    const { agent } = payingDesk()
    const fleet = await openFleet(agent)
    await fleet.startWorker()
    const service = sweepServiceOf(fleet.appName)
    const response = await postToIngress({ service, key: SWEEP_KEY, handler }, { loop: 'mine' })
    expect(response.status).toBe(401)
  })

  test.each(['ada', '["ada"]', '["ada", "s1"]', '["ada","s1","s2"]'])(
    'has no effect on the key %s, which names no session',
    async (key) => {
      const { agent } = payingDesk()
      const fleet = await openFleet(agent)
      await fleet.startWorker()
      const target = { ...targetOf(fleet, 'run'), key }
      const response = await postToIngress(target, sealCall(SECRET, target, { message: 'Charge.' }, Date.now()))
      expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('names no session')])
    },
  )

  test('cannot answer the request of another user, or of a session that does not exist', async () => {
    const { fleet, charged, message } = await waitingFleet()
    await fleet.call('run', { message: 'Charge.' }, EVE)
    for (const session of [EVE, { userId: 'eve', sessionId: 's2' }]) {
      const response = await fleet.call('answer', { message }, session)
      expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('NOT_FOUND')])
    }
    expect(charged).toEqual([])
    expect((await fleet.call('answer', { message })).status).toBe(200)
    expect(charged).toEqual(['s1'])
  })

  test('cannot answer the request of another app', async () => {
    const { charged, message } = await waitingFleet()
    const other = await waitingFleet()
    const response = await other.fleet.call('answer', { message })
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('NOT_FOUND')])
    expect([...charged, ...other.charged]).toEqual([])
  })

  test('with a message that no runner takes is refused, and the session goes on', async () => {
    const { agent, charged } = payingDesk({ isGated: false })
    const fleet = await openFleet(agent)
    await fleet.startWorker()
    for (const input of [
      {},
      { message: 1 },
      { message: { role: 'model', parts: [] } },
      { message: 'x', stateDelta: 'y' },
    ]) {
      const response = await fleet.call('run', input)
      expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('INVALID_REQUEST')])
    }
    expect((await fleet.call('run', { message: 'Charge.' })).status).toBe(200)
    expect(charged).toEqual(['s1'])
  })

  test('that is larger than Restate takes is refused, and a message of that size can be submitted', async () => {
    const { agent, charged } = payingDesk({ isGated: false })
    const fleet = await openFleet(agent)
    await fleet.startWorker()
    const message = 'x'.repeat(1_500_000)
    const called = fleet.engine.call({ appName: fleet.appName, ...ADA }, 'run', { message })
    await expect(called).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect(await fleet.sessionService.getSession({ appName: fleet.appName, ...ADA })).toBeUndefined()
    await fleet.web.submit({ ...ADA, message })
    await expect.poll(() => charged).toEqual(['s1'])
  })
})

describe.skipIf(!inject('restate'))('a client of the port of a worker', () => {
  test('runs nothing without a signature', async () => {
    const { fleet, worker, charged, message } = await waitingFleet()
    const target = targetOf(fleet, 'answer')
    const refused = await invokeWorker(worker.port, target, { message })
    expect(refused.status).toBe(200) // the protocol: the failure is in the body
    expect(refused.text).toContain('UNAUTHENTICATED')
    expect(await fleet.web.pending(ADA)).toHaveLength(1)
    expect(charged).toEqual([])
    const honest = await invokeWorker(worker.port, target, sealCall(SECRET, target, { message }, Date.now()))
    expect(honest.text).not.toContain('UNAUTHENTICATED')
    await expect.poll(() => charged).toEqual(['s1'])
  })

  test('learns nothing, and calls nothing, where the worker has the keys of Restate', async () => {
    const { agent } = payingDesk()
    const fleet = await openFleet(agent)
    const key = 'publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f'
    const worker = await fleet.startWorker({ identityKeys: [key], admin: undefined }, { isAwaited: false })
    const target = targetOf(fleet, 'wake')
    expect((await invokeWorker(worker.port, target, sealCall(SECRET, target, {}, Date.now()))).status).toBe(401)
  })
})
