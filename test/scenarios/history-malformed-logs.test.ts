// Malformed and interrupted logs: every request built from them is accepted by every provider, and the log stays unchanged.
import fc from 'fast-check'
import type { SessionService } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { problems, process, refundTool, say, stored, stores, where } from './approvals-kit.ts'
import {
  answers,
  calls,
  decision,
  eventsOf,
  handle,
  hears,
  type Line,
  later,
  logs,
  question,
  response,
  says,
} from './history-malformed-logs.ts'

/** Creates a session with the log, sends two messages, and reports the replies, the history problems and whether the log changed. */
async function sendMessagesAfter(store: SessionService, lines: readonly Line[], path: string | undefined) {
  const { refund, run } = refundTool({ requiresConfirmation: false })
  await store.createSession({ appName: 'app', ...where, events: eventsOf(lines, path) })
  const before = JSON.stringify(await stored(store))
  const steps = [{ calls: [{ name: 'refund', args: { amount: 2 } }] }, 'yes', 'no']
  const { runner, model } = process(store, { tools: [refund], steps, runner: { whilePaused: 'cancel' } })
  const completions = [await say(runner, 'hi'), await say(runner, 'and now?')]
  return {
    replies: completions.map(({ text, error }) => error ?? text),
    problems: model.requests.flatMap(({ contents }) => problems(contents)),
    run: run.mock.calls.map(([{ amount }]) => amount),
    isLogAsItWas: JSON.stringify((await stored(store)).slice(0, lines.length)) === before,
  }
}

const fine = { replies: ['yes', 'no'], problems: [], run: [2], isLogAsItWas: true }

describe.each(stores)('%s', (_, newStore) => {
  describe.each([
    ['an imported log', undefined],
    ['a log of this agent', 'agent'],
  ])('%s', (_whose, path) => {
    test.each(logs)('sends a valid history after %s [PR-11]', async (_name, lines) => {
      expect(await sendMessagesAfter(newStore(), lines, path)).toEqual(fine)
    })
  })

  test('sends a valid history after any random log [PR-11]', async () => {
    const id = fc.constantFrom('a', 'b', 'c', '', 'a/b', '__proto__')
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
        expect(await sendMessagesAfter(newStore(), log, path)).toEqual(fine)
      }),
      { numRuns: 300 },
    )
  })
})
