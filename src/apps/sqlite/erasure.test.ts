// The bytes of the file after a user was deleted.
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { scriptedModel } from '../../adapters/testing/scripted-model.ts'
import { requestOf } from '../../adapters/testing/suites/session-fixtures.ts'
import { LlmAgent } from '../../engine/agent/agents/llm-agent.ts'
import { memoryPlugin } from '../../engine/runner/plugins/memory-plugin.ts'
import { Runner } from '../../engine/runner/runner.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

/** A user with something in every table. Everything that identifies it holds "canary". */
async function fillFile(file: string, userId: string): Promise<Runner> {
  const services = sqlite(file)
  const { sessionService, artifactService, credentialService, limitService } = services
  const model = scriptedModel(Array(5).fill(`${userId} answer`))
  const agent = new LlmAgent({ name: 'clerk', model })
  const runner = new Runner({ appName: 'shop', agent, ...services, plugins: [memoryPlugin(services)] })
  const key = { appName: 'shop', userId, sessionId: `${userId}-s1` }
  const stateDelta = { 'user:name': `${userId}-name`, [`${userId}-key`]: `${userId}-value` }
  await runner.complete({ ...key, message: `${userId} message`, stateDelta })
  for (const filename of [`${userId}.txt`, `user:${userId}.txt`]) {
    const data = Buffer.from(`${userId} bytes`).toString('base64')
    await artifactService.saveArtifact({ ...key, filename, artifact: { inlineData: { mimeType: 'text/plain', data } } })
  }
  await runner.schedule({
    userId,
    sessionId: key.sessionId,
    message: `${userId} tick`,
    at: new Date(Date.now() + 86_400_000),
  })
  const slot = { ...key, name: `work of ${userId}`, max: 1, holder: '', leaseMs: 3_600_000 }
  await limitService.take({ ...slot, slotId: `${userId}-slot` })
  await limitService.take({ ...slot, slotId: 'next', place: { ticket: `${userId}-ticket`, waitMs: 3_600_000 } })
  await credentialService.save({
    ...key,
    key: `${userId}-crm`,
    credential: { authType: 'apiKey', apiKey: `${userId}-secret` },
  })
  const lease = await sessionService.claim(key)
  const pending = { opened: [requestOf(`${userId}-r1`)], closed: [] }
  await sessionService.append(lease, lease.seq, [], { pending, checkpoint: { made: `${userId}-checkpoint` } })
  await sessionService.release(lease)
  await sessionService.post(key, { id: `${userId}-i1`, type: 'state', stateDelta: { [`${userId}-posted`]: 1 } })
  return runner
}

test('a deleted user is in no byte of the file and its write-ahead log, and another user is', async () => {
  const file = temporaryFile()
  const runner = await fillFile(file, 'canary')
  await fillFile(file, 'other')
  const bytes = (): string => [file, `${file}-wal`].map((path) => readFileSync(path, 'latin1')).join('')
  expect(bytes()).toContain('canary')
  await runner.deleteUser({ userId: 'canary' })
  const connection = new DatabaseSync(file)
  connection.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
  connection.close()
  const around = [...bytes().matchAll(/.{0,20}canary.{0,20}/gs)].map(([found]) => found)
  expect(around).toEqual([])
  for (const kind of ['message', 'answer', 'name', 'value', 'bytes', 'checkpoint', 'crm', 'posted', 'slot', 'ticket'])
    expect(bytes()).toContain(`other${['message', 'answer', 'bytes'].includes(kind) ? ' ' : '-'}${kind}`)
})
