// A user with something in every table, for tests of what a deletion leaves.
import { scriptedModel } from '../../adapters/testing/scripted-model.ts'
import { requestOf } from '../../adapters/testing/suites/session-fixtures.ts'
import { LlmAgent } from '../../engine/agent/agents/llm-agent.ts'
import { memoryPlugin } from '../../engine/runner/plugins/memory-plugin.ts'
import { Runner } from '../../engine/runner/runner.ts'
import type { ArtifactService } from '../../services/artifact/service.ts'
import type { CredentialService } from '../../services/credential/service.ts'
import type { LimitService } from '../../services/limit/service.ts'
import type { MemoryService } from '../../services/memory/service.ts'
import type { ScheduleService } from '../../services/schedule/service.ts'
import type { SessionService } from '../../services/session/service.ts'

/** The services of a store. */
interface StoreServices {
  readonly sessionService: SessionService
  readonly artifactService: ArtifactService
  readonly credentialService: CredentialService
  readonly memoryService: MemoryService
  readonly scheduleService: ScheduleService
  readonly limitService: LimitService
}

/** What each kind of data of a session has in it, after the word of the session. */
export const SESSION_CANARIES: readonly string[] = [
  'message',
  'answer',
  'key',
  'file',
  'bytes',
  'tick',
  'request',
  'checkpoint',
  'posted',
]
/** What each kind of data of the user has in it, after the id of the user. */
export const USER_CANARIES: readonly string[] = ['name', 'key', 'file', 'bytes', 'slot', 'ticket', 'crm']

/**
 * Stores something of every kind. All that belongs to the session has `session` in it, its id included, and all else that belongs to the
 * user has `userId` in it.
 */
export async function fillStore(services: StoreServices, userId: string, session: string): Promise<Runner> {
  const { sessionService, artifactService, credentialService, limitService } = services
  const agent = new LlmAgent({ name: 'clerk', model: scriptedModel(Array(5).fill(`${session}answer`)) })
  const runner = new Runner({ appName: 'shop', agent, ...services, plugins: [memoryPlugin(services)] })
  const key = { appName: 'shop', userId, sessionId: session }
  const stateDelta = { [`user:${userId}key`]: `${userId}name`, [`${session}key`]: 1 }
  await runner.complete({ ...key, message: `${session}message`, stateDelta })
  for (const [filename, mark] of [
    [`${session}file`, session],
    [`user:${userId}file`, userId],
  ] as const) {
    const data = Buffer.from(`${mark}bytes`).toString('base64')
    await artifactService.saveArtifact({ ...key, filename, artifact: { inlineData: { mimeType: 'text/plain', data } } })
  }
  await runner.schedule({
    userId,
    sessionId: session,
    message: `${session}tick`,
    at: new Date(Date.now() + 86_400_000),
  })
  const slot = { ...key, name: `work of ${userId}`, max: 1, holder: '', leaseMs: 3_600_000 }
  await limitService.take({ ...slot, slotId: `${userId}slot` })
  await limitService.take({ ...slot, slotId: 'next', place: { ticket: `${userId}ticket`, waitMs: 3_600_000 } })
  await credentialService.save({
    ...key,
    key: `${userId}crm`,
    credential: { authType: 'apiKey', apiKey: `${userId}secret` },
  })
  const lease = await sessionService.claim(key)
  const pending = { opened: [requestOf(`${session}request`)], closed: [] }
  await sessionService.append(lease, lease.seq, [], { pending, checkpoint: { made: `${session}checkpoint` } })
  await sessionService.release(lease)
  await sessionService.post(key, { id: `${session}item`, type: 'state', stateDelta: { [`${session}posted`]: 1 } })
  return runner
}

/** Where a word is, with what is around it. */
export function around(text: string, word: string): readonly string[] {
  return [...text.matchAll(new RegExp(`.{0,20}${word}.{0,20}`, 'gs'))].map(([found]) => found)
}
