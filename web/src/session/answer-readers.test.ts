// Every shape of an answer means the same to the runner, the chat and the timeline.
import { confirm, InMemorySessionService, LlmAgent, Runner, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { ChatFold } from '../chat/fold.ts'
import type { CallRow } from '../chat/rows.ts'
import { buildTimeline } from '../timeline/build-timeline.ts'
import { EMPTY_VIEW } from './log-view.ts'

test.each<[shape: object, isApproved: boolean]>([
  [{ confirmed: true }, true],
  [{ toolConfirmation: { confirmed: true } }, true],
  [{ response: { confirmed: true } }, true],
  [{ response: '{"confirmed":true}' }, true],
  [{ result: '{"confirmed":true}' }, true],
  [{ confirmed: false }, false],
  [{ confirmed: false, reason: 'no' }, false],
  [{ toolConfirmation: { confirmed: false } }, false],
  [{ response: { confirmed: false } }, false],
  [{ response: '{"confirmed":false}' }, false],
  [{ confirmed: 'true' }, false],
  [{ result: 'yes' }, false],
  [{ declined: true }, false],
  [{}, false],
])('the runner, the chat and the timeline agree on %j', async (response, isApproved) => {
  let runs = 0
  const pay = confirm(tool({ name: 'pay', description: 'Pays', run: () => ({ paid: ++runs }) }))
  const model = scriptedModel([{ calls: [{ name: 'pay' }] }, 'Done.'])
  const sessionService = new InMemorySessionService()
  const agent = new LlmAgent({ name: 'desk', model, tools: [pay] })
  const runner = new Runner({ appName: 'shop', agent, sessionService })
  const key = { userId: 'ada', sessionId: 's1' }
  const { pending } = await runner.complete({ ...key, message: 'Pay.' })
  const answer = { id: pending[0]?.id ?? '', name: 'adk_request_confirmation', response: { ...response } }
  await runner.complete({ ...key, message: [{ functionResponse: answer }] })
  expect(runs).toBe(isApproved ? 1 : 0)

  const page = await sessionService.readLog({ appName: 'shop', ...key, fromSeq: 1, limit: 100 })
  const entries = page?.entries ?? []
  const rows = new ChatFold().update({ ...EMPTY_VIEW, entries })
  const row = rows.find((one): one is CallRow => one.type === 'call')
  expect(row?.call.status).toBe(isApproved ? 'completed' : 'denied')
  expect(row?.call.requests[0]?.answer?.type).toBe(isApproved ? 'approved' : 'denied')
  const timeline = buildTimeline(entries, entries[0]?.event?.invocationId ?? '', { now: Date.now(), isRunning: false })
  expect(timeline?.steps.find(({ kind }) => kind === 'tool')).toMatchObject({
    gate: isApproved ? 'passed' : 'denied',
    waits: [{ answer: expect.stringMatching(isApproved ? /^approved/ : /^denied/) }],
  })
})
