// kill -9 at random moments: two processes at a time, each at work in four sessions of one file. Afterwards an auditor
// compares the logs with what the outside world has seen. More of it, or a certain seed:
//   KILLS=2000 SEED=7 npx vitest run --project scenarios test/scenarios/kill-random.test.ts
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Entry } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { expect, test } from 'vitest'
import { audit, type Evidence } from './kill/audit.ts'
import { type CrowdOrder, crowdRunner, finish, send } from './kill/crowd.ts'
import { killedWhen, LEASE_IS_OVER_MS, temporaryFile } from './kill/kit.ts'
import { reachAt } from './kill/outside.ts'
import { World } from './kill/world.ts'

const kills = Number(process.env.KILLS ?? 40)
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)

const lanes = ['left', 'right']
const sessionsOf = (lane: string): string[] => [1, 2, 3, 4].map((n) => `${lane}-${n}`)
const crowd = fileURLToPath(new URL('./kill/crowd.ts', import.meta.url))

test(`${kills} random kills over 8 sessions lose, repeat and invent nothing (SEED=${seed})`, {
  timeout: 30_000 + kills * 2_000,
}, async () => {
  const world = await World.open()
  const file = temporaryFile()
  const random = randomFrom(seed)
  let aheadMs = 0
  const killOften = async (who: string): Promise<void> => {
    for (let kill = 0; kill < kills / lanes.length; kill++) {
      const order: CrowdOrder = { file, url: world.url, who, sessions: sessionsOf(who), aheadMs }
      let contacts = Math.ceil(random() * 60)
      const enough = world.saw((visit) => visit.who === who && --contacts === 0)
      await killedWhen(
        enough.then(() => setTimeout(random() * 4)),
        crowd,
        order,
      ) // any moment will do
      aheadMs += LEASE_IS_OVER_MS
    }
  }
  await Promise.all(lanes.map(killOften))

  // a last process, which nobody kills, finishes everything and finds every session ready for another turn
  using services = sqlite(file, { now: () => Date.now() + aheadMs })
  const reach = reachAt(world.url)
  const runner = crowdRunner(services, reach)
  const logs = new Map<string, readonly Entry[]>()
  for (const sessionId of lanes.flatMap(sessionsOf)) {
    await finish(runner, sessionId, reach)
    await send(runner, sessionId, reach)
    await finish(runner, sessionId, reach)
    const lease = await services.sessionService.claim({ appName: 'app', userId: 'ada', sessionId })
    logs.set(sessionId, (await services.sessionService.read(lease)).entries)
    await services.sessionService.release(lease)
  }
  const evidence: Evidence = { logs, visits: world.visits }
  expect(audit(evidence)).toEqual([])
  expect(await runner.pending()).toEqual([])
  const database = new DatabaseSync(file)
  expect(database.prepare('PRAGMA integrity_check').get()).toMatchObject({ integrity_check: 'ok' })
  database.close()
  expectToNotice(evidence)
})

/** The auditor is no yes-man: evidence with one thing changed is refused. */
function expectToNotice({ logs, visits }: Evidence): void {
  const [[sessionId, entries] = ['', []]] = [...logs].filter(([, log]) => usedYes(log, visits))
  const shown = visits.find((visit) => visit.shown?.sessionId === sessionId)?.shown?.id
  const paid = visits.find(({ point }) => point === 'effect atMostOnce')
  const answer = entries.find(({ event }) => event?.content?.role === 'tool')
  const yes = usedYes(entries, visits)
  const withLog = (log: readonly (Entry | undefined)[]): Evidence => ({
    logs: new Map([[sessionId, log.flatMap((entry, at) => (entry ? [{ ...entry, seq: at + 1 }] : []))]]),
    visits,
  })
  if (!paid || !answer || !yes) throw new Error('Too little has happened to tell.')
  const noticed = (evidence: Evidence): string => audit(evidence).join('\n')
  expect(noticed(withLog(entries.filter(({ event }) => event?.id !== shown)))).toContain(
    'was shown and is not in the log',
  )
  expect(noticed(withLog([...entries, answer]))).toContain('has 2 responses')
  expect(noticed(withLog(entries.filter((entry) => entry !== yes)))).toContain('nobody had approved it')
  expect(noticed({ logs, visits: [...visits, paid] })).toContain('took effect 2 times')
  expect(noticed({ logs, visits: visits.filter(({ point }) => !point.startsWith('effect ')) })).toContain('it did not')
}

/** A yes whose call took effect: some processes die before it comes to that. */
function usedYes(entries: readonly Entry[], visits: Evidence['visits']): Entry | undefined {
  const keys = new Set(visits.flatMap(({ point, key }) => (point === 'effect approved' && key ? [key] : [])))
  const used = entries.flatMap(({ record }) =>
    record?.type === 'request' && keys.has(`${record.invocationId}/${record.callId}`) ? [record.id] : [],
  )
  return entries.find(
    ({ event }) =>
      event?.author === 'user' &&
      event.content?.parts.some(({ functionResponse }) => used.includes(functionResponse?.id ?? '')),
  )
}

/** Numbers in [0, 1), the same for the same seed. */
function randomFrom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    const mixed = Math.imul(state ^ (state >>> 15), state | 1)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
