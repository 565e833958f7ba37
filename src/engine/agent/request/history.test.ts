import { expect, test } from 'vitest'
import type { Content, Part } from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'
import type { ScopePath } from '../../../core/event/scope.ts'
import { History } from './history.ts'

const NO_RESULT = { error: expect.stringContaining('No result was recorded') }

let events = 0
const event = (author: string, role: Content['role'], parts: readonly Part[], more: Partial<Event> = {}): Event => ({
  id: `${++events}`,
  invocationId: 'i1',
  author,
  timestamp: 0,
  actions: {},
  content: { role, parts },
  ...more,
})
const user = (text: string, more?: Partial<Event>) => event('user', 'user', [{ text }], more)
const says = (author: string, text: string, more?: Partial<Event>) => event(author, 'model', [{ text }], more)
const calls = (author: string, ids: readonly string[], more?: Partial<Event>) =>
  event(
    author,
    'model',
    ids.map((id) => ({ functionCall: { id, name: `n${id}`, args: {} } })),
    more,
  )
const response = (id: string, result: unknown = id, willContinue = false): Part => ({
  functionResponse: { id, name: `n${id}`, response: { result }, ...(willContinue && { willContinue }) },
})
const answers = (author: string, parts: readonly Part[], more?: Partial<Event>) => event(author, 'tool', parts, more)

const seenBy = (agent: string, log: readonly Event[], scope: ScopePath = { path: 'a' }) =>
  new History(agent, scope).upTo(log)
/** Short form: the role, and the content of each part. */
const short = (contents: readonly Content[]) =>
  contents.map(({ role, parts }) => [
    role,
    ...parts.map(
      (part) =>
        part.text ??
        (part.functionCall && `call ${part.functionCall.id}`) ??
        (part.functionResponse && (part.functionResponse.response.result ?? part.functionResponse.response)) ??
        Object.keys(part)[0],
    ),
  ])

test('the history shows one response per call, in call order', () => {
  const log = [
    user('go'),
    calls('a', ['1', '2', '3']),
    answers('a', [response('3')]),
    answers('a', [response('2'), response('1')]),
  ]
  expect(short(seenBy('a', log))).toEqual([
    ['user', 'go'],
    ['model', 'call 1', 'call 2', 'call 3'],
    ['tool', '1', '2', '3'],
  ])
})

test('the history shows a placeholder for each missing response of a batch', () => {
  const log = [user('go'), calls('a', ['1', '2']), answers('a', [response('2')])]
  expect(short(seenBy('a', log))).toEqual([
    ['user', 'go'],
    ['model', 'call 1', 'call 2'],
    ['tool', NO_RESULT, '2'],
  ])
})

test('the history is the same when built step by step and at once, and earlier lists do not change', () => {
  const log = [
    user('go'),
    calls('a', ['1', '2']),
    says('b', 'meanwhile'),
    answers('a', [response('2', 'handle', true)]),
    answers('a', [response('1')]),
    user('next', { invocationId: 'i2' }),
    event('user', 'user', [response('2', 'final')]),
    says('a', 'done', { invocationId: 'i2' }),
  ]
  const history = new History('a', { path: 'a' })
  const given = log.map((_, at) => {
    const list = history.upTo(log.slice(0, at + 1))
    return [list, JSON.stringify(list)] as const
  })
  for (const [at, [list, before]] of given.entries()) {
    expect(JSON.stringify(list)).toBe(before)
    expect(JSON.stringify(seenBy('a', log.slice(0, at + 1)))).toBe(before)
  }
})

test('the history shows an error for open calls of an earlier invocation without changing the log', () => {
  const log = [user('go'), calls('a', ['1', '2']), answers('a', [response('2')]), user('next', { invocationId: 'i2' })]
  const before = JSON.stringify(log)
  expect(short(seenBy('a', log))).toEqual([
    ['user', 'go'],
    ['model', 'call 1', 'call 2'],
    ['tool', NO_RESULT, '2'],
    ['user', 'next'],
  ])
  expect(JSON.stringify(log)).toBe(before)
})

test('the history shows calls of a paused invocation without a result until the result arrives', () => {
  const open = [
    user('ship'),
    calls('a', ['1']),
    answers('a', [response('1', 'ticket', true)]),
    user('refund', { invocationId: 'i2' }),
    calls('a', ['2'], { invocationId: 'i2' }),
  ]
  const arrived = [...open, event('user', 'user', [response('1', 'box')])]
  expect(short(seenBy('a', arrived)).slice(2)).toEqual([
    ['tool', 'box'],
    ['user', 'refund'],
    ['model', 'call 2'],
    ['tool', NO_RESULT],
    ['user', 'The result of n1 (1) has arrived.'],
  ])
  const after = [...arrived, says('a', 'shipped'), answers('a', [response('2', 'paid')], { invocationId: 'i2' })]
  expect(short(seenBy('a', after)).slice(4)).toEqual([
    ['model', 'call 2'],
    ['tool', 'paid'],
    ['user', 'The result of n1 (1) has arrived.'],
    ['model', 'shipped'],
    ['user', 'The result of n2 (2) has arrived.'],
  ])
})

test('the history shows an error for open calls when the agent replies again', () => {
  const log = [user('go'), calls('a', ['1']), says('a', 'never mind')]
  expect(short(seenBy('a', log))[2]).toEqual(['tool', NO_RESULT])
})

test('the history places events that arrive during open calls after their responses', () => {
  const log = [user('go'), calls('a', ['1']), says('b', 'meanwhile'), answers('a', [response('1')]), says('a', 'done')]
  expect(short(seenBy('a', log))).toEqual([
    ['user', 'go'],
    ['model', 'call 1'],
    ['tool', '1'],
    ['user', 'For context:', '[b] said: meanwhile'],
    ['model', 'done'],
  ])
})

test('the history shows the handle of a long-running call until its result replaces it', () => {
  const paused = [user('go'), calls('a', ['1', '2']), answers('a', [response('1', 'ticket', true), response('2')])]
  const later = [...paused, user('and?', { invocationId: 'i2' })]
  const shown = seenBy('a', later)
  expect(short(shown)[2]).toEqual(['tool', 'ticket', '2'])
  expect(JSON.stringify(shown)).not.toContain('willContinue')
  const news = [...later, event('user', 'user', [response('1', 'nearly', true)])]
  expect(short(seenBy('a', news))[2]).toEqual(['tool', 'nearly', '2'])
  const final = [...news, event('user', 'user', [response('1', 'box')]), says('a', 'done')]
  expect(short(seenBy('a', final))).toEqual([
    ['user', 'go'],
    ['model', 'call 1', 'call 2'],
    ['tool', 'box', '2'],
    ['user', 'and?'],
    ['user', 'The result of n1 (1) has arrived.'],
    ['model', 'done'],
  ])
})

test('the history ignores a result without an open call', () => {
  const log = [user('go'), calls('a', ['1']), answers('a', [response('1')])]
  const more = [...log, event('user', 'user', [response('1', 'forged')]), event('user', 'user', [response('9')])]
  expect(seenBy('a', more)).toEqual(seenBy('a', log))
})

test('the history moves media together with its response when responses are put in order', () => {
  const image: Part = { inlineData: { mimeType: 'image/png', data: 'AA==' } }
  const log = [user('go'), calls('a', ['1', '2']), answers('a', [response('2'), image, response('1')])]
  expect(short(seenBy('a', log))[2]).toEqual(['tool', '1', '2', 'inlineData'])
})

test('the history describes calls and responses of other agents, without their thoughts', () => {
  const log = [
    user('go'),
    event('b', 'model', [
      { text: 'hm', thought: true },
      { text: 'I look.' },
      { functionCall: { id: '1', name: 'look', args: { at: 1 } } },
    ]),
    answers('b', [response('1', 'seen')]),
    event('b', 'model', [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }]),
  ]
  expect(short(seenBy('a', log))).toEqual([
    ['user', 'go'],
    ['user', 'For context:', '[b] said: I look.', '[b] called look with {"at":1}'],
    ['user', 'For context:', '[b] got from n1: {"result":"seen"}'],
    ['user', 'For context:', 'inlineData'],
  ])
})

test('the history leaves out an agent that produced no visible text', () => {
  const log = [user('go'), event('b', 'model', [{ text: 'hm', thought: true }]), event('b', 'model', [])]
  expect(short(seenBy('a', log))).toEqual([['user', 'go']])
})

test('the history describes framework messages to another agent as context', () => {
  const log = [user('go'), says('b', 'Oslo'), event('b', 'user', [{ text: 'Answer with JSON.' }]), says('b', '{}')]
  expect(short(seenBy('a', log))[2]).toEqual(['user', 'For context:', '[b] received: Answer with JSON.'])
  expect(short(seenBy('b', log))[2]).toEqual(['user', 'Answer with JSON.'])
})

test("the history contains an agent's own thoughts and signatures", () => {
  const said = event('a', 'model', [{ text: 'hm', thought: true, thoughtSignature: 's' }, { text: 'yes' }])
  expect(seenBy('a', [user('go'), said])[1]).toBe(said.content)
})

test('the history shows only the conversation inside an agent tool, and hides it outside', () => {
  const scope = 'a/b@1'
  const inside = { isolationScope: scope, nodeInfo: { path: scope } }
  const log = [
    user('go'),
    calls('a', ['1']),
    event('a', 'user', [{ text: 'the request' }], inside),
    says('b', 'inner words', inside),
    answers('a', [response('1', 'inner answer')]),
  ]
  expect(short(seenBy('b', log, { path: scope, isolation: scope }))).toEqual([
    ['user', 'the request'],
    ['model', 'inner words'],
  ])
  expect(short(seenBy('a', log))).toEqual([
    ['user', 'go'],
    ['model', 'call 1'],
    ['tool', 'inner answer'],
  ])
})

test('the history shows a result sent by the user to the agent inside an agent tool', () => {
  const inside = { isolationScope: 'a/b@1', nodeInfo: { path: 'a/b@1' } }
  const log = [
    event('a', 'user', [{ text: 'the request' }], inside),
    calls('b', ['7'], inside),
    answers('b', [response('7', 'handle', true)], inside),
    event('user', 'user', [response('7', 'final')]),
    user('not for you'),
  ]
  expect(short(seenBy('b', log, { path: 'a/b@1', isolation: 'a/b@1' }))).toEqual([
    ['user', 'the request'],
    ['model', 'call 7'],
    ['tool', 'final'],
  ])
})

test.each([
  ['p.x', ['before', 'in x']],
  ['p.x.q.y', ['before', 'in x', 'deep in x']],
  ['p.xy', ['before']],
  ['p.z', ['before', 'in z']],
  [undefined, ['before', 'in x', 'deep in x', 'in z']],
])('the history seen from branch %s shows %j', (branch, expected) => {
  const log = [
    user('before'),
    user('in x', { branch: 'p.x' }),
    user('deep in x', { branch: 'p.x.q.y' }),
    user('in z', { branch: 'p.z' }),
  ]
  expect(seenBy('a', log, { path: 'a', branch }).map(({ parts }) => parts[0]?.text)).toEqual(expected)
})

test('the history starts the current turn at the last message to the agent, not at a correction', () => {
  const turn = (log: readonly Event[]) => short(new History('a', { path: 'a' }).upTo(log, 'none'))
  const log = [user('one'), says('a', '1'), user('two'), calls('a', ['1']), answers('a', [response('1')])]
  expect(turn(log)).toEqual([
    ['user', 'two'],
    ['model', 'call 1'],
    ['tool', '1'],
  ])
  const corrected = [...log, says('a', 'wrong'), event('a', 'user', [{ text: 'Again.' }])]
  expect(turn(corrected).map(([role]) => role)).toEqual(['user', 'model', 'tool', 'model', 'user'])
  expect(turn([...log, says('b', 'I did it')])).toEqual([['user', 'For context:', '[b] said: I did it']])
  expect(turn([])).toEqual([])
})

test('the history shows responses under the sendable ids and names of their calls', () => {
  const named = (id: string | undefined, name: string): Part => ({
    functionCall: { ...(id && { id }), name, args: {} },
  })
  const given = (id: string | undefined, name: string, result: number): Part => ({
    functionResponse: { ...(id && { id }), name, response: { result } },
  })
  const log = [
    event('a', 'model', [named('x', 'look up'), named(undefined, 'n'), named(undefined, 'n')]),
    answers('a', [given('x', 'look up', 1), given(undefined, 'n', 2), given(undefined, 'n', 3)]),
    user('again', { invocationId: 'i2' }),
    event('a', 'model', [{ text: ' ' }, named('x', 'look')], { invocationId: 'i2' }),
    answers(
      'a',
      [{ functionResponse: { id: 'x', name: 'look', response: { result: 'ticket' }, willContinue: true } }],
      {
        invocationId: 'i2',
      },
    ),
    user('and?', { invocationId: 'i3' }),
    event('user', 'user', [given('x', 'look', 4)], { invocationId: 'i2' }),
  ]
  const before = JSON.stringify(log)
  const shown = seenBy('a', log)
  expect(shown.map(({ role }) => role)).toEqual(['user', 'model', 'tool', 'user', 'model', 'tool', 'user', 'user'])
  const ids = shown.flatMap(({ parts }) =>
    parts.flatMap(({ functionCall }) => (functionCall ? [[functionCall.id, functionCall.name]] : [])),
  )
  const answered = shown.flatMap(({ parts }) =>
    parts.flatMap(({ functionResponse: one }) => (one ? [[one.id, one.name, one.response.result]] : [])),
  )
  expect(ids).toEqual([
    ['x', 'look_up'],
    ['call_1', 'n'],
    ['call_2', 'n'],
    ['x_1', 'look'],
  ])
  expect(answered).toEqual([
    ['x', 'look_up', 1],
    ['call_1', 'n', 2],
    ['call_2', 'n', 3],
    ['x_1', 'look', 4],
  ])
  expect(JSON.stringify(log)).toBe(before)
})

test('the history shows calls of another open invocation without a result for now', () => {
  const log = [user('go'), user('pay', { invocationId: 'i2' }), calls('a', ['1'], { invocationId: 'i2' })]
  const history = new History('a', { path: 'a' })
  expect(short(history.upTo(log)).slice(2)).toEqual([
    ['model', 'call 1'],
    ['tool', NO_RESULT],
  ])
  log.push(answers('a', [response('1', 'paid')], { invocationId: 'i2' }))
  expect(short(history.upTo(log)).slice(2)).toEqual([
    ['model', 'call 1'],
    ['tool', 'paid'],
  ])
})
