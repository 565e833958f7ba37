import { expect, test, vi } from 'vitest'
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import { InMemorySessionService } from '../../session/in-memory.ts'
import type { HeldLog, Lease } from '../../session/service.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { tool } from '../../tool/define.ts'
import { approve } from '../approvals/answer-parts.ts'
import { Runner } from '../runner.ts'

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

const oddReads: [string, (log: HeldLog) => unknown][] = [
  ['without the first entry', (log) => ({ ...log, memo: {}, entries: log.entries.slice(1) })],
  ['with every entry twice', (log) => ({ ...log, memo: {}, entries: [...log.entries, ...log.entries] })],
  ['backwards', (log) => ({ ...log, memo: {}, entries: log.entries.toReversed() })],
  ['without a list of entries', ({ memo, state }) => ({ memo, state })],
  ['without a memo', ({ entries, state }) => ({ entries, state })],
  ['as nothing', () => undefined],
]

test.each(oddReads)('an approved call does not run on a log that the store gives %s', async (_how, change) => {
  const sessionService = new InMemorySessionService()
  const run = vi.fn(() => 'paid')
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run })
  const agent = new LlmAgent({
    name: 'clerk',
    model: scriptedModel([{ calls: [{ name: 'pay' }] }, 'done']),
    tools: [pay],
  })
  const runner = new Runner({ appName: 'shop', agent, sessionService })
  const where = { userId: 'ada', sessionId: 's1' }
  const { pending } = await runner.complete({ ...where, message: 'Pay.' })
  const message = pending.map((request) => approve(request))
  const read = sessionService.read.bind(sessionService)
  sessionService.read = async (lease, options) => change(await read(lease, options)) as HeldLog
  await expect(runner.complete({ ...where, message })).rejects.toMatchObject({ code: 'STORAGE' })
  expect(run).not.toHaveBeenCalled()
  sessionService.read = async (lease, options) => ({ ...(await read(lease, options)), memo: {} })
  expect((await runner.complete({ ...where, message })).text).toBe('done')
  expect(run).toHaveBeenCalledOnce()
})
