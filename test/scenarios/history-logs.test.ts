// Logs as nobody should leave them: what the model is sent can be sent to any provider, and the log stays as it is.
import fc from 'fast-check'
import type { Content, Event, JsonObject, Part, SessionService } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { problems, process, refundTool, say, stored, stores, where } from './approvals-kit.ts'

type Line = { readonly author: string; readonly content: Content; readonly invocationId?: string } & Partial<Event>

const hears = (text: string): Line => ({ author: 'user', content: { role: 'user', parts: [{ text }] } })
const says = (text: string): Line => ({ author: 'agent', content: { role: 'model', parts: [{ text }] } })
const call = (id: string, name = 'refund'): Part => ({ functionCall: { id, name, args: { amount: 1 } } })
const calls = (...ids: string[]): Line => ({
  author: 'agent',
  content: { role: 'model', parts: ids.map((id) => call(id)) },
})
const response = (id: string, response: JsonObject = { refunded: 1 }): Part => ({
  functionResponse: { id, name: 'refund', response },
})
const answers = (...ids: string[]): Line => ({
  author: 'agent',
  content: { role: 'tool', parts: ids.map((id) => response(id)) },
})
const later = (line: Line): Line => ({ ...line, invocationId: 'e-2' })
const handle = (id: string): Line => ({
  ...calls(id),
  content: {
    role: 'tool',
    parts: [{ functionResponse: { id, name: 'refund', response: { ticket: 7 }, willContinue: true } }],
  },
})

const question = (id: string, callId: string): Line => ({
  author: 'agent',
  longRunningToolIds: [id],
  content: {
    role: 'model',
    parts: [{ functionCall: { id, name: 'adk_request_confirmation', args: { originalFunctionCall: { id: callId } } } }],
  },
})
const decision = (id: string, confirmed: boolean): Line => ({
  author: 'user',
  content: {
    role: 'user',
    parts: [{ functionResponse: { id, name: 'adk_request_confirmation', response: { confirmed } } }],
  },
})

const logs: readonly [name: string, lines: readonly Line[]][] = [
  ['a whole turn', [hears('go'), calls('a'), answers('a'), says('done')]],
  ['a call without a response', [hears('go'), calls('a')]],
  ['a call without a response, in the middle', [hears('go'), calls('a'), later(hears('and?')), later(says('what?'))]],
  ['a call without a response, and the model talks on', [hears('go'), calls('a'), says('done')]],
  ['a response without a call', [hears('go'), answers('a'), says('done')]],
  ['nothing but a response', [answers('a')]],
  ['a response twice', [hears('go'), calls('a'), answers('a'), answers('a'), says('done')]],
  ['a response twice in one event', [hears('go'), calls('a'), answers('a', 'a'), says('done')]],
  [
    'a response again, much later',
    [hears('go'), calls('a'), answers('a'), says('done'), later(hears('and?')), later(answers('a'))],
  ],
  ['a response before its call', [hears('go'), answers('a'), calls('a'), says('done')]],
  ['a response before its call, and one after', [hears('go'), answers('a'), calls('a'), answers('a')]],
  ['two of three calls answered', [hears('go'), calls('a', 'b', 'c'), answers('c', 'a')]],
  [
    'two of three calls answered, and it went on',
    [hears('go'), calls('a', 'b', 'c'), answers('b'), later(hears('and?')), later(answers('c'))],
  ],
  [
    'a word of the user between call and response',
    [hears('go'), calls('a'), hears('wait'), answers('a'), says('done')],
  ],
  [
    'a word of another agent between them',
    [hears('go'), calls('a'), { ...says('psst'), author: 'other' }, answers('a')],
  ],
  ['the model speaks three times', [hears('go'), says('one'), calls('a'), answers('a'), says('two'), says('three')]],
  ['a question nobody answered', [hears('go'), calls('a'), question('q', 'a')]],
  ['a question and a yes, and no response', [hears('go'), calls('a'), question('q', 'a'), decision('q', true)]],
  [
    'a question, a no and the response',
    [hears('go'), calls('a'), question('q', 'a'), decision('q', false), answers('a')],
  ],
  ['an answer to nothing', [hears('go'), decision('q', true)]],
  ['work that goes on', [hears('go'), calls('a'), handle('a'), later(hears('and?')), later(says('soon'))]],
  [
    'work that goes on and ends much later',
    [
      hears('go'),
      calls('a'),
      handle('a'),
      later(hears('and?')),
      later(says('soon')),
      { ...decision('a', true), content: { role: 'user', parts: [response('a')] } },
    ],
  ],
  ['a call a user claims to have made', [hears('go'), { ...calls('a'), author: 'user' }, answers('a')]],
  ['nothing but an empty reply', [hears('go'), { author: 'agent', content: { role: 'model', parts: [] } }]],
  [
    'code, its output and a call beside it',
    [
      hears('go'),
      {
        author: 'agent',
        content: { role: 'model', parts: [{ executableCode: { id: 'x', language: 'PYTHON', code: '1' } }, call('a')] },
      },
      {
        author: 'agent',
        content: {
          role: 'tool',
          parts: [{ codeExecutionResult: { id: 'x', outcome: 'OUTCOME_OK', output: '1' } }, response('a')],
        },
      },
    ],
  ],
  [
    'code without its output',
    [
      hears('go'),
      {
        author: 'agent',
        content: { role: 'model', parts: [{ executableCode: { id: 'x', language: 'PYTHON', code: '1' } }] },
      },
    ],
  ],
]

/** The events of a log, with all an event needs; with a path they are an agent's of this tree, which may have more to do. */
const eventsOf = (lines: readonly Line[], path: string | undefined): Event[] =>
  lines.map((line, at) => ({
    id: `old-${at}`,
    invocationId: 'e-1',
    timestamp: at + 1,
    actions: {},
    ...(path !== undefined && line.author !== 'user' && { nodeInfo: { path } }),
    ...line,
  }))

/** Puts the log into a session, says something twice, and tells what the model was sent and what became of the log. */
async function talkAfter(store: SessionService, lines: readonly Line[], path: string | undefined) {
  const { refund, run } = refundTool({ requiresConfirmation: false })
  await store.createSession({ appName: 'app', ...where, events: eventsOf(lines, path) })
  const before = JSON.stringify(await stored(store))
  const steps = [{ calls: [{ name: 'refund', args: { amount: 2 } }] }, 'yes', 'no']
  const { runner, model } = process(store, { tools: [refund], steps, runner: { whilePaused: 'cancel' } })
  const told = [await say(runner, 'hi'), await say(runner, 'and now?')]
  return {
    said: told.map(({ text, error }) => error ?? text),
    problems: model.requests.flatMap(({ contents }) => problems(contents)),
    run: run.mock.calls.map(([{ amount }]) => amount),
    isLogAsItWas: JSON.stringify((await stored(store)).slice(0, lines.length)) === before,
  }
}

/** Without calls of an id that was there before. */
function calledOnce(lines: readonly Line[]): Line[] {
  const known = new Set<string>()
  return lines.flatMap((line) => {
    const isNew = (id: string) => !known.has(id) && known.add(id)
    const parts = line.content.parts.filter(({ functionCall }) => !functionCall?.id || isNew(functionCall.id))
    return parts.length ? [{ ...line, content: { ...line.content, parts } }] : []
  })
}

const fine = { said: ['yes', 'no'], problems: [], run: [2], isLogAsItWas: true }

describe.each(stores)('%s', (_, newStore) => {
  describe.each([
    ['a log from elsewhere', undefined],
    ['a log of this agent', 'agent'],
  ])('%s', (_whose, path) => {
    test.each(logs)('%s [PR-11]', async (_name, lines) => {
      expect(await talkAfter(newStore(), lines, path)).toEqual(fine)
    })
  })

  test('whatever a log holds in whatever order [PR-11]', async () => {
    const id = fc.constantFrom('a', 'b', 'c')
    const line = fc.oneof(
      fc.constantFrom(hears('go'), says('done'), { ...says('psst'), author: 'other' }),
      fc.uniqueArray(id, { minLength: 1 }).map((ids) => calls(...ids)),
      fc.array(id, { minLength: 1, maxLength: 4 }).map((ids) => answers(...ids)),
      id.map(handle),
      id.map((callId) => question(`q-${callId}`, callId)),
      fc.tuple(id, fc.boolean()).map(([callId, confirmed]) => decision(`q-${callId}`, confirmed)),
      id.map((callId) => ({ ...hears(''), content: { role: 'user' as const, parts: [response(callId)] } })),
    )
    const lines = fc.array(
      fc.tuple(line, fc.boolean()).map(([one, isLater]) => (isLater ? later(one) : one)),
      {
        minLength: 1,
        maxLength: 12,
      },
    )
    await fc.assert(
      fc.asyncProperty(lines, fc.constantFrom(undefined, 'agent'), async (log, path) => {
        expect(await talkAfter(newStore(), [hears('go'), ...calledOnce(log)], path)).toEqual(fine)
      }),
      { numRuns: 300 },
    )
  })
})
