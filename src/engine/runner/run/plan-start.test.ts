import { expect, test } from 'vitest'
import type { Content, Part } from '../../../core/content/content.ts'
import { createEvent, type Event, type LogRecord, type NewEntry } from '../../../core/event/event.ts'
import { AgentTree } from '../../agent/agents/agent-tree.ts'
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import { SessionView } from '../../agent/loop/session-view.ts'
import type { Model } from '../../model/model.ts'
import { type PlannedRequest, planStart } from './plan-start.ts'

const model: Model = { name: 'none', async *generate() {} }
const tree = new AgentTree(new LlmAgent({ name: 'desk', model }), { plugins: [], resolveModel: () => model })

/** The time at which each plan is made. Requests expire at 200. */
const NOW = 100

const event = (invocationId: string, author: string, parts: Part[], more: Partial<Event> = {}): NewEntry => {
  const role = author === 'user' ? 'user' : parts.some((part) => part.functionResponse) ? 'tool' : 'model'
  const path = author === 'user' ? {} : { nodeInfo: { path: 'desk' }, ...(role === 'model' && { turnComplete: true }) }
  return { event: createEvent({ invocationId, author, content: { role, parts }, ...path, ...more }) }
}
const record = (one: object): NewEntry => ({ record: { invocationId: 'i1', ...one } as LogRecord })
const said = (id: string): NewEntry => event(id, 'user', [{ text: 'Hi' }])
const called = (id: string, name = 'pay'): NewEntry =>
  event(id, 'desk', [{ functionCall: { id: `c-${id}`, name, args: {} } }])
const request = {
  type: 'request',
  id: 'r1',
  path: 'desk',
  callId: 'c-i1',
  kind: 'confirmation',
  origin: 'gate',
  args: {},
  definition: '',
  createdAt: 1,
  expiresAt: 200,
}
const handle = (id: string): NewEntry =>
  event(id, 'desk', [{ functionResponse: { id: `c-${id}`, name: 'pay', response: { ticket: 1 }, willContinue: true } }])

const inBackground = (until: number | undefined): NewEntry =>
  record({ type: 'background', path: 'desk', calls: [{ id: 'c-i1', ...(until !== undefined && { until }) }] })

const logs = {
  'an empty log': [],
  'a finished invocation': [said('i1'), event('i1', 'desk', [{ text: 'Hello' }])],
  'an interrupted invocation': [said('i1'), called('i1')],
  'a paused invocation': [said('i1'), called('i1'), record(request)],
  'an expired request': [said('i1'), called('i1'), record({ ...request, expiresAt: 50 })],
  'a denied request': [
    said('i1'),
    called('i1'),
    record(request),
    record({ type: 'denial', requestId: 'r1', reason: 'expired' }),
  ],
  'a long-running call': [said('i1'), called('i1'), handle('i1')],
  'a background call': [said('i1'), called('i1'), inBackground(200), handle('i1')],
  'a background call without a time limit': [said('i1'), called('i1'), inBackground(undefined), handle('i1')],
  'a late background call': [said('i1'), called('i1'), inBackground(50), handle('i1')],
  'a late background call of an earlier invocation': [
    said('i1'),
    called('i1'),
    inBackground(50),
    handle('i1'),
    said('i2'),
    event('i2', 'desk', [{ text: 'Hello' }]),
  ],
  'an interrupted background call': [
    said('i1'),
    called('i1'),
    inBackground(50),
    handle('i1'),
    record({ type: 'interruption', callId: 'c-i1' }),
  ],
  'a long-running call and a paused invocation': [
    said('i0'),
    called('i0'),
    handle('i0'),
    said('i1'),
    called('i1'),
    record(request),
  ],
} satisfies { [name: string]: NewEntry[] }

const message: Content = { role: 'user', parts: [{ text: 'New' }] }
const requests = {
  text: { invocationId: 'i9', message },
  'an answer': { invocationId: '', message },
  resume: { invocationId: '' },
  'resume of i0': { invocationId: 'i0' },
  'a live session': { invocationId: 'i9', live: {} },
} satisfies { [name: string]: PlannedRequest }

type Row = [
  log: keyof typeof logs,
  request: keyof typeof requests,
  whilePaused: 'reject' | 'cancel' | 'continue' | undefined,
  plan: string,
]

test.each<Row>([
  ['an empty log', 'text', undefined, 'start i9'],
  ['an empty log', 'an answer', undefined, 'answer'],
  ['an empty log', 'resume', undefined, 'refuse NOT_FOUND'],
  ['an empty log', 'a live session', undefined, 'start i9'],
  ['a finished invocation', 'text', undefined, 'start i9'],
  ['a finished invocation', 'resume', undefined, 'refuse NOT_FOUND'],
  ['an interrupted invocation', 'text', undefined, 'refuse PAUSED'],
  ['an interrupted invocation', 'text', 'continue', 'refuse PAUSED'],
  ['an interrupted invocation', 'text', 'cancel', 'start i9, cancel i1'],
  ['an interrupted invocation', 'resume', undefined, 'start i1'],
  ['an interrupted invocation', 'a live session', undefined, 'start i9, cancel i1'],
  ['a paused invocation', 'text', undefined, 'refuse PAUSED'],
  ['a paused invocation', 'text', 'reject', 'refuse PAUSED'],
  ['a paused invocation', 'text', 'cancel', 'start i9, cancel i1'],
  ['a paused invocation', 'an answer', undefined, 'answer'],
  ['a paused invocation', 'resume', undefined, 'start i1'],
  ['a paused invocation', 'a live session', undefined, 'refuse PAUSED'],
  ['an expired request', 'text', undefined, 'expire first i1 r1'],
  ['an expired request', 'text', 'cancel', 'expire first i1 r1'],
  ['an expired request', 'an answer', undefined, 'expire first i1 r1'],
  ['an expired request', 'resume', undefined, 'expire first i1 r1'],
  ['a denied request', 'text', undefined, 'finish first i1'],
  ['a denied request', 'text', 'cancel', 'start i9, cancel i1'],
  ['a denied request', 'a live session', undefined, 'finish first i1'],
  ['a denied request', 'resume', undefined, 'start i1'],
  ['a long-running call', 'text', undefined, 'start i9'],
  ['a long-running call', 'text', 'continue', 'start i9'],
  ['a long-running call', 'text', 'reject', 'refuse PAUSED'],
  ['a long-running call', 'text', 'cancel', 'start i9, cancel i1'],
  ['a long-running call', 'a live session', undefined, 'start i9'],
  ['a long-running call', 'a live session', 'cancel', 'start i9, cancel i1'],
  ['a background call', 'text', undefined, 'start i9'],
  ['a background call', 'text', 'reject', 'refuse PAUSED'],
  ['a background call', 'resume', undefined, 'start i1'],
  ['a background call without a time limit', 'resume', undefined, 'start i1'],
  ['a late background call', 'text', undefined, 'interrupt first i1 c-i1'],
  ['a late background call', 'text', 'cancel', 'interrupt first i1 c-i1'],
  ['a late background call', 'an answer', undefined, 'interrupt first i1 c-i1'],
  ['a late background call', 'resume', undefined, 'interrupt first i1 c-i1'],
  ['a late background call of an earlier invocation', 'text', undefined, 'interrupt first i1 c-i1'],
  ['an interrupted background call', 'text', undefined, 'finish first i1'],
  ['an interrupted background call', 'text', 'cancel', 'start i9, cancel i1'],
  ['an interrupted background call', 'resume', undefined, 'start i1'],
  ['a long-running call and a paused invocation', 'text', undefined, 'refuse PAUSED'],
  ['a long-running call and a paused invocation', 'text', 'cancel', 'start i9, cancel i0 i1'],
  ['a long-running call and a paused invocation', 'resume', undefined, 'start i1'],
  ['a long-running call and a paused invocation', 'resume of i0', undefined, 'start i0'],
])('a start with %s and %s (whilePaused: %s): %s', (log, wanted, whilePaused, expected) => {
  const view = new SessionView(tree)
  for (const [at, entry] of logs[log].entries()) view.add(entry, at + 1)
  expect(describe(planStart(view, requests[wanted], { tree, whilePaused, now: NOW }))).toBe(expected)
})

test('a late background call whose body still works is not interrupted', () => {
  const view = new SessionView(tree)
  for (const [at, entry] of logs['a late background call'].entries()) view.add(entry, at + 1)
  const options = { tree, whilePaused: undefined, now: NOW, isAlive: (id: string) => id === 'c-i1' }
  expect(describe(planStart(view, requests.resume, options))).toBe('start i1')
})

test('an engine is asked again about a late call that it runs, and a process without one interrupts the call', () => {
  const view = new SessionView(tree)
  const late = record({ type: 'background', path: 'desk', calls: [{ id: 'c-i1', until: 50, engine: {} }] })
  for (const [at, entry] of [said('i1'), called('i1'), late, handle('i1')].entries()) view.add(entry, at + 1)
  const options = { tree, whilePaused: undefined, now: NOW }
  expect(describe(planStart(view, requests.text, { ...options, tellAgainAt: () => 130 }))).toBe(
    'tell first i1 c-i1 130',
  )
  expect(describe(planStart(view, requests.text, options))).toBe('interrupt first i1 c-i1')
})

test('a new session starts whatever its view has', () => {
  const plan = planStart(
    new SessionView(tree),
    { ...requests.text, isNew: true },
    { tree, whilePaused: 'reject', now: NOW },
  )
  expect(describe(plan)).toBe('start i9')
})

function describe(plan: ReturnType<typeof planStart>): string {
  switch (plan.type) {
    case 'start':
      return `start ${plan.invocationId}${plan.cancel.length > 0 ? `, cancel ${plan.cancel.join(' ')}` : ''}`
    case 'expire first':
      return `expire first ${plan.invocationId} ${plan.denials.map(({ requestId }) => requestId).join(' ')}`
    case 'interrupt first':
      return `interrupt first ${plan.invocationId} ${plan.lost.map(({ callId }) => callId).join(' ')}`
    case 'tell first':
      return `tell first ${plan.invocationId} ${plan.told.flatMap(({ calls }) => calls.map(({ id, until }) => `${id} ${until}`)).join(' ')}`
    case 'finish first':
      return `finish first ${plan.invocationId}`
    case 'answer':
      return 'answer'
    case 'refuse':
      return `refuse ${(plan.error as { code: string }).code}`
  }
}
