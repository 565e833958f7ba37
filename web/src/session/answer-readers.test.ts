// Every shape of an answer means the same to every reader: the runner, the model, the views, the chat, the timeline, the terminal and
// the trace.
import { confirm, InMemorySessionService, LlmAgent, Runner, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { EventRenderer } from '../../../src/apps/cli/screen/event-renderer.ts'
import { spansOf } from '../../../src/apps/server/trace/spans.ts'
import { readLog } from '../../../src/core/event/views/log-reader.ts'
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
])('all readers agree on the answer %j to a confirmation', async (response, isApproved) => {
  let runs = 0
  const pay = confirm(tool({ name: 'pay', description: 'Pays', run: () => ({ paid: ++runs }) }))
  const model = scriptedModel([{ calls: [{ name: 'pay' }] }, 'Done.'])
  const sessionService = new InMemorySessionService()
  const agent = new LlmAgent({ name: 'desk', model, tools: [pay] })
  const runner = new Runner({ appName: 'shop', agent, sessionService })
  const key = { userId: 'ada', sessionId: 's1' }
  const { pending } = await runner.complete({ ...key, message: 'Pay.' })
  const answer = { id: pending[0]?.id ?? '', name: 'adk_request_confirmation', response: { ...response } }
  const { events } = await runner.complete({ ...key, message: [{ functionResponse: answer }] })
  expect(runs).toBe(isApproved ? 1 : 0)
  expect(await runner.pending()).toEqual([])
  const seen = model.requests.at(-1)?.contents.at(-1)?.parts[0]?.functionResponse?.response
  expect(seen).toEqual(
    isApproved ? { paid: 1 } : { error: expect.stringContaining('rejected'), errorCode: 'CANCELLED' },
  )

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
  const [call] = readLog(entries).calls()
  expect(call).toMatchObject({
    status: isApproved ? 'completed' : 'denied',
    gate: isApproved ? 'passed' : 'denied',
    requests: [{ isOpen: false, answer: { type: isApproved ? 'approved' : 'denied' } }],
  })
  const terminal = new EventRenderer({ rootName: 'desk', colour: false })
  expect(events.map((event) => terminal.render(event)).join('')).toMatch(isApproved ? /^✓ pay/ : /^✗ pay/)
  const stored = entries.flatMap(({ event }) => event ?? [])
  const spans = spansOf({ id: 's1', events: stored }, { models: new Map(), maxBytes: 1e6 })
  const span = spans.find(({ name }) => name === 'execute_tool pay')
  expect(JSON.parse(String(span?.attributes['gcp.vertex.agent.tool_response']))).toEqual(seen)
  const recorded = stored.findLast(({ author }) => author === 'user')?.content?.parts[0]?.functionResponse?.response
  expect(recorded).toMatchObject({ confirmed: isApproved }) // one form, whatever the client sent
})

test.each<[shape: object, meaning: string]>([
  [{ result: 'blue' }, 'answered'],
  [{ declined: true }, 'declined'],
  [{ declined: true, reason: 'no idea' }, 'declined'],
])('all readers agree on the answer %j to a request for input', async (response, meaning) => {
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    run: (_, context) => ({ colour: context.requestInput({ key: 'colour', message: 'Which colour?' }) ?? null }),
  })
  const model = scriptedModel([{ calls: [{ name: 'ask' }] }, 'Done.'])
  const sessionService = new InMemorySessionService()
  const runner = new Runner({
    appName: 'shop',
    agent: new LlmAgent({ name: 'desk', model, tools: [ask] }),
    sessionService,
  })
  const key = { userId: 'ada', sessionId: 's1' }
  const { pending } = await runner.complete({ ...key, message: 'Ask.' })
  const answer = { id: pending[0]?.id ?? '', name: 'adk_request_input', response: { ...response } }
  await runner.complete({ ...key, message: [{ functionResponse: answer }] })
  const page = await sessionService.readLog({ appName: 'shop', ...key, fromSeq: 1, limit: 100 })
  const entries = page?.entries ?? []
  const isAnswered = meaning === 'answered'
  const [call] = readLog(entries).calls()
  expect(call).toMatchObject({ status: isAnswered ? 'completed' : 'denied', requests: [{ answer: { type: meaning } }] })
  const row = new ChatFold().update({ ...EMPTY_VIEW, entries }).find((one): one is CallRow => one.type === 'call')
  expect(row?.call).toEqual(call)
  const timeline = buildTimeline(entries, call?.invocationId ?? '', { now: Date.now(), isRunning: false })
  const step = timeline?.steps.find(({ kind }) => kind === 'tool')
  expect(step).toMatchObject({
    status: isAnswered ? 'done' : 'failed',
    waits: [{ answer: expect.stringContaining(meaning) }],
  })
})
