// A session whose processes die again and again does not block workers.
import { LlmAgent, Runner, type SessionService } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stores } from '../stores.ts'

const ADA = { userId: 'ada', sessionId: 's1' }
const KEY = { appName: 'shop', ...ADA }
const LEASE_MS = 10_000

/** Processes that claim the session and die. */
async function crash(sessionService: SessionService, times: number, clock: { now: number }): Promise<void> {
  for (let died = 0; died < times; died++) {
    await sessionService.claim(KEY)
    clock.now += LEASE_MS + 1
  }
}

describe.each(stores)('with sessions $name', ({ open }) => {
  test('workers leave a session alone that has killed five of them, say so once, and resume() continues it', async () => {
    const clock = { now: 1_700_000_000_000 }
    const { sessionService } = open({ now: () => clock.now, leaseMs: LEASE_MS })
    const errors: string[] = []
    const logger = { warn: () => {}, error: (message: string) => void errors.push(message) }
    let replies = 0
    const model = scriptedModel(() => {
      if (replies++ === 0) throw new Error('The model is away.')
      return 'Done.'
    })
    const agent = new LlmAgent({ name: 'desk', model })
    const runner = new Runner({ appName: 'shop', agent, sessionService, logger, ports: { now: () => clock.now } })
    onTestFinished(() => runner.close())
    await runner.submit({ ...ADA, message: 'Work.' })
    await crash(sessionService, 5, clock)

    const stop = new AbortController()
    const worked = runner.work({ signal: stop.signal, pollMs: 20 })
    const listed = async () => (await sessionService.setAside?.({ appName: 'shop', limit: 10 }))?.items
    await expect.poll(listed).toHaveLength(1)
    await new Promise((resolve) => setTimeout(resolve, 100))
    stop.abort()
    await worked
    expect(replies).toBe(0)
    expect(errors).toEqual([
      'Session "s1" is set aside. 5 processes in a row died while they continued the session. runner.resume() tries again.',
    ])
    expect((await listed())?.[0]).toMatchObject({ ...KEY, reason: expect.stringContaining('5 processes in a row') })

    for await (const _ of runner.resume(ADA));
    expect(replies).toBe(1)
    expect(await listed()).toEqual([])
  })

  test('a worker continues a session whose processes have died less often, and a completed run forgets them', async () => {
    const clock = { now: 1_700_000_000_000 }
    const { sessionService } = open({ now: () => clock.now, leaseMs: LEASE_MS })
    const agent = new LlmAgent({ name: 'desk', model: scriptedModel(() => 'Done.') })
    const runner = new Runner({ appName: 'shop', agent, sessionService, ports: { now: () => clock.now } })
    onTestFinished(() => runner.close())
    for (const id of ['m1', 'm2']) {
      await runner.submit({ ...ADA, message: 'Work.', id })
      await crash(sessionService, 4, clock)
      const stop = new AbortController()
      const worked = runner.work({ signal: stop.signal, pollMs: 20 })
      const texts = async () => (await sessionService.getSession(KEY))?.events.length
      await expect.poll(texts).toBe(id === 'm1' ? 2 : 4)
      stop.abort()
      await worked
    }
  })
})
