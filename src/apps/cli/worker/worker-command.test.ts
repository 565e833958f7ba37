import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { approve, Runner } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { loadAgentFile } from '../load/agent-file.ts'
import { runCommandLine, startCommandLine } from '../terminal.test-kit.ts'

const file = 'test/examples/fixtures/refund.ts'

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-worker-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

test('toolwright worker continues an answered run and starts a scheduled one, until a signal', async () => {
  const db = join(temporaryFolder(), 'app.db')
  const services = sqlite(db)
  onTestFinished(() => services.close())
  const { root } = await loadAgentFile(file)
  const runner = new Runner({ appName: 'refund', agent: root as never, ...services })
  const { sessionId, pending } = await runner.complete({ userId: 'ada', message: 'refund 5' })
  await runner.answer({ userId: 'ada', sessionId, message: pending.map((request) => approve(request)) })
  await runner.schedule({ userId: 'ada', message: 'Hello', at: new Date(), id: 'hello' })

  const worker = startCommandLine(['worker', file, '--db', db])
  onTestFinished(() => void worker.signals.emit('SIGTERM'))
  await worker.until('Press Ctrl+C to stop.\n')
  const eventsOf = async (id: string): Promise<string> =>
    JSON.stringify(await services.sessionService.getSession({ appName: 'refund', userId: 'ada', sessionId: id }))
  await expect.poll(() => eventsOf(sessionId), { timeout: 10_000 }).toContain('Refunded.')
  const last = async () => (await runner.schedules()).items[0]?.last?.sessionId ?? ''
  await expect.poll(async () => await eventsOf(await last()), { timeout: 10_000 }).toContain('You said Hello.')
  worker.signals.emit('SIGTERM')
  expect((await worker.ended).code).toBe(0)
})

test('toolwright worker says what is missing or wrong in its command line', async () => {
  const missing = await runCommandLine(['worker'])
  expect([missing.code, missing.errors]).toEqual([2, expect.stringContaining('Pass an agent file or a folder')])
  const wrong = await runCommandLine(['worker', file, '--concurrency', '0'])
  expect([wrong.code, wrong.errors]).toEqual([
    2,
    expect.stringContaining('--concurrency must be a whole number above 0'),
  ])
})
