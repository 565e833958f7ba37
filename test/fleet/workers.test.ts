// Workers that come, go and fail: what a caller and an operator see.
import { randomUUID } from 'node:crypto'
import { LlmAgent } from 'toolwright'
import { RestateEngine, restate } from 'toolwright/restate'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, inject, test } from 'vitest'
import { ADA, type Fleet, openBalancer, openFleet, SECRET, sharedRestate } from './fleet.test-kit.ts'
import { payingDesk } from './paying-desk.test-kit.ts'

const NOWHERE = 'http://127.0.0.1:9'

async function lastText({ sessionService, appName }: Fleet): Promise<string | undefined> {
  const session = await sessionService.getSession({ appName, ...ADA })
  return session?.events.at(-1)?.content?.parts[0]?.text
}

describe.skipIf(!inject('restate'))('a worker', () => {
  test('may be registered at an address that has workers of the same apps', async () => {
    const { agent, charged } = payingDesk({ isGated: false })
    const fleet = await openFleet(agent)
    const workers = [await fleet.startWorker(), await fleet.startWorker()]
    await workers[0]?.close({ graceMs: 0 })
    await fleet.web.submit({ ...ADA, message: 'Charge.' })
    await expect.poll(() => lastText(fleet)).toBe('Done.')
    expect(charged).toEqual(['s1'])
  })

  test('is refused at an address that has workers of other apps, which go on', async () => {
    const { agent } = payingDesk({ isGated: false })
    const fleet = await openFleet(agent)
    const balancer = await openBalancer()
    await fleet.startWorker({ balancer })
    const other = await openFleet(agent)
    const worker = await other.startWorker({ balancer }, { isAwaited: false })
    balancer.ports.delete(worker.port)
    await expect(worker.ready()).rejects.toMatchObject({
      code: 'ALREADY_EXISTS',
      message: expect.stringContaining('Give the workers of each version an address of their own'),
    })
    await fleet.web.submit({ ...ADA, message: 'Charge.' })
    await expect.poll(() => lastText(fleet)).toBe('Done.')
  })

  test('looks for work once other means have registered it', async () => {
    const { agent } = payingDesk({ isGated: false })
    const fleet = await openFleet(agent)
    await fleet.openRunner({ engine: undefined }).submit({ ...ADA, message: 'Charge.' })
    const worker = await fleet.startWorker({ admin: undefined }, { isAwaited: false })
    const response = await fetch(new URL('deployments', sharedRestate().admin), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri: worker.url }),
    })
    expect(response.status).toBe(201)
    await worker.ready()
    await expect.poll(() => lastText(fleet)).toBe('Done.')
  })

  test('that stops lets a turn under way end, and takes no more', async () => {
    const gate = Promise.withResolvers<void>()
    const { agent, charged } = payingDesk({ isGated: false, gate: gate.promise })
    const fleet = await openFleet(agent)
    const worker = await fleet.startWorker()
    await fleet.web.submit({ ...ADA, message: 'Charge.' })
    await expect.poll(() => charged).toEqual(['s1'])
    const closed = worker.close({ graceMs: 60_000 })
    gate.resolve()
    await closed
    expect(charged).toEqual(['s1'])
    const events = (await fleet.sessionService.getSession({ appName: fleet.appName, ...ADA }))?.events
    expect(JSON.stringify(events)).toContain('"paid":true') // it was not interrupted
    expect(await lastText(fleet)).toBe('Done.')
  })

  test('that stops hands a turn over when its grace is over', async () => {
    const gate = Promise.withResolvers<void>()
    const { agent, charged } = payingDesk({ isGated: false, effect: 'idempotent', gate: gate.promise })
    const fleet = await openFleet(agent)
    const worker = await fleet.startWorker()
    await fleet.web.submit({ ...ADA, message: 'Charge.' })
    await expect.poll(() => charged).toEqual(['s1'])
    const other = payingDesk({ isGated: false, effect: 'idempotent' })
    await fleet.startWorker({ runner: { agent: other.agent } })
    await worker.close({ graceMs: 0 })
    await expect.poll(() => lastText(fleet)).toBe('Done.')
    expect(other.charged).toEqual(['s1'])
    gate.resolve()
  })
})

describe.skipIf(!inject('restate'))('two versions of an agent', () => {
  test('run side by side: a turn of the old one ends there, new turns run on the new one', async () => {
    const gate = Promise.withResolvers<void>()
    const old = payingDesk({ isGated: false, gate: gate.promise })
    const fleet = await openFleet(old.agent)
    const oldWorker = await fleet.startWorker()
    await fleet.web.submit({ ...ADA, message: 'Charge.' })
    await expect.poll(() => old.charged).toEqual(['s1'])
    const next = payingDesk({ isGated: false })
    await fleet.startWorker({ balancer: await openBalancer(), runner: { agent: next.agent } })
    await fleet.web.submit({ ...ADA, sessionId: 's2', message: 'Charge.' })
    await expect.poll(() => next.charged).toEqual(['s2'])
    const closed = oldWorker.close({ graceMs: 60_000 })
    gate.resolve()
    await closed
    expect(await lastText(fleet)).toBe('Done.')
    expect([...old.charged, ...next.charged]).toEqual(['s1', 's2'])
  })

  test('the new one continues what the old one hands over, and reports an agent that it does not have', async () => {
    const gate = Promise.withResolvers<void>()
    const old = payingDesk({ isGated: false, effect: 'idempotent', gate: gate.promise })
    const transfer = scriptedModel([{ calls: [{ name: 'transfer_to_agent', args: { agent_name: 'desk' } }] }])
    const before = new LlmAgent({ name: 'reception', model: transfer, subAgents: [old.agent] })
    const fleet = await openFleet(before)
    const oldWorker = await fleet.startWorker()
    await fleet.web.submit({ ...ADA, message: 'Charge.' })
    await expect.poll(() => old.charged).toEqual(['s1'])
    const after = new LlmAgent({ name: 'reception', model: scriptedModel(['Done.']) })
    await fleet.startWorker({ balancer: await openBalancer(), runner: { agent: after } })
    await oldWorker.close({ graceMs: 0 })
    const errorOf = async () => {
      const session = await fleet.sessionService.getSession({ appName: fleet.appName, ...ADA })
      return session?.events.at(-1)?.errorCode
    }
    await expect.poll(errorOf).toBe('AGENT_ERROR')
    gate.resolve()
    await fleet.web.submit({ ...ADA, message: 'Hello.' })
    await expect.poll(() => lastText(fleet)).toBe('Done.')
  })
})

describe.skipIf(!inject('restate'))('a message', () => {
  test('is stored while the ingress cannot be reached, and a worker finds it', async () => {
    const { agent } = payingDesk({ isGated: false })
    const fleet = await openFleet(agent)
    const warnings: string[] = []
    const logger = { warn: (message: string) => void warnings.push(message), error: () => {} }
    const web = fleet.openRunner({ engine: restate({ ingress: NOWHERE, secret: SECRET }), logger })
    await web.submit({ ...ADA, message: 'Charge.' })
    expect(warnings).toEqual([
      expect.stringMatching(
        /^Session "s1" could not be woken, and waits for a worker: Restate at http:\/\/127\.0\.0\.1:9 cannot be called/,
      ),
    ])
    await fleet.startWorker()
    await expect.poll(() => lastText(fleet)).toBe('Done.')
  })

  test('for an app without workers is refused by the ingress, with what to do', async () => {
    const engine = new RestateEngine({ ingress: sharedRestate().ingress, secret: SECRET })
    const called = engine.call({ appName: `no-${randomUUID()}`, ...ADA }, 'run', { message: 'Hello.' })
    await expect(called).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('Start a worker'),
    })
  })
})
