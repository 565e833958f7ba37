// Logs as nobody should leave them: what the model is sent can be sent to any provider, and the log stays as it is.
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
} from './history-corpus.ts'

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
        expect(await talkAfter(newStore(), log, path)).toEqual(fine)
      }),
      { numRuns: 300 },
    )
  })
})
