import { expect, test } from 'vitest'
import { LlmAgent } from '../agent/llm-agent.ts'
import { InMemorySessionService } from '../session/in-memory.ts'
import type { HeldLog, Lease } from '../session/service.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { Runner } from './runner.ts'

/** A store that gives an entry the framework cannot read, at the end of a log, for as long as it is damaged. */
class DamagedStore extends InMemorySessionService {
  isDamaged = false

  override async read(lease: Lease, options?: { fromSeq?: number }): Promise<HeldLog> {
    const log = await super.read(lease, options)
    if (!this.isDamaged) return log
    const seq = log.entries.length + 1
    return {
      ...log,
      entries: [...log.entries, { seq } as never, { ...(log.entries[0] as object), seq: seq + 1 } as never],
    }
  }
}

test('a log that cannot be read gives the same error every time, and is read whole when it can be', async () => {
  const sessionService = new DamagedStore()
  const agent = new LlmAgent({ name: 'clerk', model: scriptedModel(['one', 'two']) })
  const runner = new Runner({ appName: 'shop', agent, sessionService })
  const where = { userId: 'ada', sessionId: 's1' }
  await runner.complete({ ...where, message: 'first' })
  sessionService.isDamaged = true
  const message = expect.stringMatching(/^The log of session "s1" cannot be read: .* Restore it from a backup\.$/)
  for (const _time of [1, 2, 3]) {
    const run = runner.complete({ ...where, message: 'again' })
    await expect(run).rejects.toMatchObject({ name: 'ToolwrightError', code: 'STORAGE', message })
  }
  sessionService.isDamaged = false
  expect((await runner.complete({ ...where, message: 'second' })).text).toBe('two')
  const session = await sessionService.getSession({ appName: 'shop', ...where })
  expect(session?.events.map(({ content }) => content?.parts[0]?.text)).toEqual(['first', 'one', 'second', 'two'])
})
