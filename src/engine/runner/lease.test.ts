import { expect, test, vi } from 'vitest'
import { scriptedModel } from '../../adapters/testing/scripted-model.ts'
import { InMemorySessionService } from '../../services/session/in-memory.ts'
import type { HeldLog, Lease } from '../../services/session/service.ts'
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import { tool } from '../tool/define-tool.ts'
import { approve } from './approvals/answer-parts.ts'
import { Runner } from './runner.ts'

/** A store whose log ends with an unreadable entry while `isDamaged`. */
class DamagedStore extends InMemorySessionService {
  isDamaged = false

  override async read(lease: Lease): Promise<HeldLog> {
    const log = await super.read(lease)
    if (!this.isDamaged) return log
    const seq = log.entries.length + 1
    return {
      ...log,
      entries: [...log.entries, { seq } as never, { ...(log.entries[0] as object), seq: seq + 1 } as never],
    }
  }
}

test('the runner rejects an unreadable log with the same error every time, and reads a restored log completely', async () => {
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
  ['in reverse order', (log) => ({ ...log, memo: {}, entries: log.entries.toReversed() })],
  ['without a list of entries', ({ state }) => ({ state })],
  ['as undefined', () => undefined],
]

test.each(oddReads)(
  'the runner does not run an approved call when the store returns the log %s',
  async (_how, change) => {
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
    sessionService.read = async (lease) => change(await read(lease)) as HeldLog
    await expect(runner.complete({ ...where, message })).rejects.toMatchObject({ code: 'STORAGE' })
    expect(run).not.toHaveBeenCalled()
    sessionService.read = async (lease) => ({ ...(await read(lease)), memo: {} })
    expect((await runner.complete({ ...where, message })).text).toBe('done')
    expect(run).toHaveBeenCalledOnce()
  },
)

test('the runner completes two messages with a store that returns no memo', async () => {
  const sessionService = new InMemorySessionService()
  const read = sessionService.read.bind(sessionService)
  sessionService.read = async (lease) => {
    const { entries, state } = await read(lease)
    return { entries, state }
  }
  const agent = new LlmAgent({ name: 'clerk', model: scriptedModel(['one', 'two']) })
  const runner = new Runner({ appName: 'shop', agent, sessionService })
  const where = { userId: 'ada', sessionId: 's1' }
  expect((await runner.complete({ ...where, message: 'first' })).text).toBe('one')
  expect((await runner.complete({ ...where, message: 'second' })).text).toBe('two')
})
