import { approve, deny, InMemorySessionService } from 'toolwright'
import { createServer } from 'toolwright/server'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { keyOfSession, sessionServiceOf } from '../../src/apps/restate/names.ts'
import { ADA, type Fleet, openFleet, queryRestate } from './fleet.test-kit.ts'
import { payingDesk } from './paying-desk.test-kit.ts'

const DAY = 86_400_000

/** What Restate knows of the session: the handler, its status, and the key that makes it one. */
async function invocationsOf({ appName }: Fleet): Promise<readonly string[]> {
  const rows = await queryRestate(
    `SELECT target_handler_name AS handler, status, idempotency_key AS once FROM sys_invocation
     WHERE target_service_name = '${sessionServiceOf(appName)}' AND target_service_key = '${keyOfSession(ADA)}'
       AND status <> 'completed'`,
  )
  return rows.map(({ handler, status, once }) => `${handler} ${status} ${once ?? ''}`.trim())
}

async function startTurn({ engine, appName }: Fleet): Promise<readonly string[]> {
  return (await engine.call({ appName, ...ADA }, 'run', { message: 'Charge.' })).pending
}

async function lastText({ sessionService, appName }: Fleet): Promise<string | undefined> {
  const session = await sessionService.getSession({ appName, ...ADA })
  return session?.events.at(-1)?.content?.parts[0]?.text
}

describe.skipIf(!inject('restate'))('a pause on Restate', () => {
  test('runs no handler: Restate stores only when the request expires', async () => {
    const { agent } = payingDesk()
    const fleet = await openFleet(agent)
    await fleet.startWorker()
    const [id] = await startTurn(fleet)
    const [request] = await fleet.web.pending(ADA)
    expect(request?.id).toBe(id)
    expect(await invocationsOf(fleet)).toEqual([
      `wake scheduled expires-${Math.round(Number(request?.expiresAt) * 1_000)}`,
    ])
  })

  test.each([
    ['the ingress', async (fleet, message) => expect((await fleet.call('answer', { message })).status).toBe(200)],
    ['runner.answer()', (fleet, message) => fleet.web.answer({ ...ADA, message })],
    [
      'the server',
      async ({ web, appName }, [part]) => {
        const server = createServer({ apps: { [appName]: web } })
        onTestFinished(() => server.close())
        const id = part?.functionResponse?.id
        const url = `http://127.0.0.1/apps/${appName}/users/ada/sessions/s1/pending/${id}`
        const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
        const body = JSON.stringify({ confirmed: true })
        expect((await server.fetch(new Request(url, { method: 'POST', headers, body }))).status).toBe(200)
      },
    ],
  ] satisfies [string, (fleet: Fleet, message: ReturnType<typeof approve>[]) => Promise<unknown>][])(
    'ends with an answer through %s, and the same answer again changes nothing',
    async (_where, answer) => {
      const { agent, charged } = payingDesk()
      const fleet = await openFleet(agent)
      await fleet.startWorker()
      await startTurn(fleet)
      const message = (await fleet.web.pending(ADA)).map((request) => approve(request))
      await answer(fleet, message)
      await expect.poll(() => lastText(fleet)).toBe('Done.')
      const log = await fleet.sessionService.getSession({ appName: fleet.appName, ...ADA })
      await answer(fleet, message)
      await expect.poll(() => invocationsOf(fleet)).toEqual([expect.stringMatching(/^wake scheduled expires-/)])
      expect(charged).toEqual(['s1'])
      expect(await fleet.sessionService.getSession({ appName: fleet.appName, ...ADA })).toEqual(log)
    },
  )

  test('refuses another answer to a request that is answered', async () => {
    const { agent, charged } = payingDesk()
    const fleet = await openFleet(agent)
    await fleet.startWorker()
    await startTurn(fleet)
    const [request] = await fleet.web.pending(ADA)
    if (!request) throw new Error('Nothing is pending.')
    await fleet.call('answer', { message: [deny(request)] })
    const refused = await fleet.call('answer', { message: [approve(request)] })
    expect(refused.status).toBe(409)
    expect(await refused.text()).toContain('ALREADY_ANSWERED')
    expect(charged).toEqual([])
  })

  test('of 30 days ends when its request has expired: the call is denied, and nothing is charged', async () => {
    const clock = { now: Date.now() }
    const now = (): number => clock.now
    const { agent, charged } = payingDesk()
    const fleet = await openFleet(agent, { sessionService: new InMemorySessionService({ now }), ports: { now } })
    const first = await fleet.startWorker({ now })
    await startTurn(fleet)
    await first.close({ graceMs: 0 })
    clock.now += 30 * DAY
    await fleet.startWorker({ now })
    await expect.poll(() => lastText(fleet)).toBe('Done.')
    expect(charged).toEqual([])
    expect(await fleet.web.pending(ADA)).toEqual([])
  })

  test('of 30 days ends with an approval, if the request expires later', async () => {
    const clock = { now: Date.now() }
    const now = (): number => clock.now
    const { agent, charged } = payingDesk({ expiresInMs: 60 * DAY })
    const fleet = await openFleet(agent, { sessionService: new InMemorySessionService({ now }), ports: { now } })
    const first = await fleet.startWorker({ now })
    await startTurn(fleet)
    expect(await invocationsOf(fleet)).toEqual([expect.stringMatching(/^wake scheduled expires-/)])
    await first.close({ graceMs: 0 })
    clock.now += 30 * DAY
    await fleet.startWorker({ now })
    await fleet.web.answer({ ...ADA, message: (await fleet.web.pending(ADA)).map((request) => approve(request)) })
    await expect.poll(() => lastText(fleet)).toBe('Done.')
    expect(charged).toEqual(['s1'])
  })

  test('a caller that waits for a long turn keeps no worker busy', async () => {
    const gate = Promise.withResolvers<void>()
    const { agent } = payingDesk({ isGated: false, gate: gate.promise })
    const fleet = await openFleet(agent)
    await fleet.startWorker()
    const turn = startTurn(fleet)
    const suspended = [expect.stringMatching(/^run suspended/), expect.stringMatching(/^wake running/)]
    await expect.poll(() => invocationsOf(fleet)).toEqual(expect.arrayContaining(suspended))
    gate.resolve()
    expect(await turn).toEqual([])
  })
})
