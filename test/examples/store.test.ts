import { approve, confirm, LlmAgent, Runner, tool } from 'toolwright'
import { recordCase, runEvals } from 'toolwright/eval'
import { scriptedModel, sessionServiceSuite } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { MapStore } from '../../examples/store/map-store.ts'

describe('the store of the examples', () => {
  sessionServiceSuite(test, (options) => new MapStore(options))

  test('continues an approved call in another runner, copies the session, and has a log that replays', async () => {
    const sessionService = new MapStore()
    const pay = confirm(tool({ name: 'pay', description: 'Pays', run: () => ({ paid: true }) }))
    const model = scriptedModel([{ calls: [{ name: 'pay' }] }, 'Paid.', 'Bye.'])
    const agent = new LlmAgent({ name: 'desk', model, tools: [pay] })
    const key = { userId: 'ada', sessionId: 's1' }
    await new Runner({ appName: 'shop', agent, sessionService }).complete({ ...key, message: 'Pay.' })
    const later = new Runner({ appName: 'shop', agent, sessionService })
    const pending = await later.pending(key)
    const { text } = await later.complete({ ...key, message: pending.map((request) => approve(request)) })
    expect(text).toBe('Paid.')
    const { invocationId } = await later.complete({ ...key, message: 'Thanks.' })
    const { sessionId } = await later.fork({ ...key, before: invocationId })
    const copy = await sessionService.getSession({ appName: 'shop', userId: 'ada', sessionId })
    expect(copy?.events.at(-1)?.content?.parts).toEqual([{ text: 'Paid.' }])
    const session = { key: { appName: 'shop', ...key }, state: {} }
    const { entries } = await sessionService.read(await sessionService.claim(session.key))
    const made = await recordCase({ ...session, entries }, { target: agent, id: 'paid' })
    const { cases } = await runEvals({ sets: [{ id: 'store', cases: [made] }], target: agent, mode: 'replay' })
    expect(cases[0]?.trials[0]?.checks).toContainEqual({ name: 'replay', status: 'PASSED' })
  })
})
