// kill -9 at random moments: two processes at a time, each with four sessions in one SQLite file. Afterwards an audit
// compares the logs with what the payment server has seen. For more kills or a fixed seed:
//   KILLS=2000 SEED=7 npx vitest run --project scenarios test/scenarios/kill-random.test.ts
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sqlite } from 'toolwright/sqlite'
import type { Entry } from 'toolwright/store'
import { expect, test } from 'vitest'
import { audit, type Evidence } from './kill/audit.ts'
import {
  createEndlessRunner,
  type EndlessProcessCommand,
  finishPendingWork,
  sendMessage,
} from './kill/endless-process.ts'
import { killWhen, LEASE_EXPIRED_MS, temporaryFile } from './kill/kill-scenario.ts'
import { PaymentServer } from './kill/payment-server.ts'
import { createStepReporter } from './kill/step-report.ts'

const kills = Number(process.env.KILLS ?? 40)
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)

const processNames = ['left', 'right']
const sessionsOf = (processName: string): string[] => [1, 2, 3, 4].map((n) => `${processName}-${n}`)
const endlessProcess = fileURLToPath(new URL('./kill/endless-process.ts', import.meta.url))

test(`${kills} random kills over 8 sessions lose no event and repeat no effect (SEED=${seed})`, {
  timeout: 30_000 + kills * 2_000,
  retry: 0, // a second attempt would hide what the first one found
}, async () => {
  const server = await PaymentServer.start()
  const file = temporaryFile()
  const random = randomFrom(seed)
  let clockAheadMs = 0
  const killRepeatedly = async (processName: string): Promise<void> => {
    for (let kill = 0; kill < kills / processNames.length; kill++) {
      const command: EndlessProcessCommand = {
        file,
        url: server.url,
        processName,
        sessions: sessionsOf(processName),
        clockAheadMs,
      }
      let remainingReports = Math.ceil(random() * 60)
      const enoughReports = server.waitForReport(
        (report) => report.processName === processName && --remainingReports === 0,
      )
      await killWhen(
        enoughReports.then(() => setTimeout(random() * 4)),
        endlessProcess,
        command,
      )
      clockAheadMs += LEASE_EXPIRED_MS
    }
  }
  await Promise.all(processNames.map(killRepeatedly))

  // this process finishes all pending work, and every session accepts another message
  using services = sqlite(file, { now: () => Date.now() + clockAheadMs })
  const reportStep = createStepReporter(server.url)
  const runner = createEndlessRunner(services, reportStep)
  const logs = new Map<string, readonly Entry[]>()
  for (const sessionId of processNames.flatMap(sessionsOf)) {
    await finishPendingWork(runner, sessionId, reportStep)
    await sendMessage(runner, sessionId, reportStep)
    await finishPendingWork(runner, sessionId, reportStep)
    const lease = await services.sessionService.claim({ appName: 'app', userId: 'ada', sessionId })
    const { entries, checkpoint } = await services.sessionService.read(lease)
    logs.set(sessionId, [...((await checkpoint?.entriesBefore()) ?? []), ...entries])
    await services.sessionService.release(lease)
  }
  const evidence: Evidence = { logs, reports: server.reports }
  expect(audit(evidence)).toEqual([])
  expect(await runner.pending()).toEqual([])
  const database = new DatabaseSync(file)
  expect(database.prepare('PRAGMA integrity_check').get()).toMatchObject({ integrity_check: 'ok' })
  database.close()
  expectAuditToFindViolations(evidence)
})

/** Checks the audit itself: it must find each violation that is planted in the evidence. */
function expectAuditToFindViolations({ logs, reports }: Evidence): void {
  const [[sessionId, entries] = ['', []]] = [...logs].filter(([, log]) => findUsedApproval(log, reports))
  const yieldedId = reports.find((report) => report.yieldedEvent?.sessionId === sessionId)?.yieldedEvent?.id
  const payment = reports.find(({ step }) => step === 'effect atMostOnce')
  const responseEntry = entries.find(({ event }) => event?.content?.role === 'tool')
  const approval = findUsedApproval(entries, reports)
  const withLog = (log: readonly (Entry | undefined)[]): Evidence => ({
    logs: new Map([[sessionId, log.flatMap((entry, at) => (entry ? [{ ...entry, seq: at + 1 }] : []))]]),
    reports,
  })
  if (!payment || !responseEntry || !approval) throw new Error('The evidence is too small to plant violations in.')
  const violationsIn = (evidence: Evidence): string => audit(evidence).join('\n')
  expect(violationsIn(withLog(entries.filter(({ event }) => event?.id !== yieldedId)))).toContain(
    'was yielded and is not in the log',
  )
  expect(violationsIn(withLog([...entries, responseEntry]))).toContain('has 2 responses')
  expect(violationsIn(withLog(entries.filter((entry) => entry !== approval)))).toContain(
    'took effect without an approval',
  )
  expect(violationsIn({ logs, reports: [...reports, payment] })).toContain('took effect 2 times')
  expect(violationsIn({ logs, reports: reports.filter(({ step }) => !step.startsWith('effect ')) })).toContain(
    'took no effect',
  )
}

/** Finds an approval whose call took effect. Some processes are killed before that. */
function findUsedApproval(entries: readonly Entry[], reports: Evidence['reports']): Entry | undefined {
  const keys = new Set(reports.flatMap(({ step, key }) => (step === 'effect approved' && key ? [key] : [])))
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
