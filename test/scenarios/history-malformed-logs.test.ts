// Malformed and interrupted logs: every request built from them is accepted by every provider, and the log stays unchanged.

import type { SessionService } from 'toolwright'
import { describe, expect, test } from 'vitest'
import fc from '../../src/core/base/fast-check.test-kit.ts'
import { historyProblems, refundTool, sendMessage, startProcess, storedEvents, stores, where } from './approvals-kit.ts'
import {
  confirmationAnswer,
  confirmationRequest,
  eventsOf,
  inLaterInvocation,
  type Line,
  malformedLogs,
  modelCalls,
  modelText,
  pendingHandle,
  responsePart,
  toolResponses,
  userText,
} from './history-malformed-logs.ts'

/** Creates a session with the log, sends two messages, and reports the replies, the history problems and whether the log changed. */
async function sendMessagesAfter(store: SessionService, lines: readonly Line[], path: string | undefined) {
  const { refund, run } = refundTool({ requiresConfirmation: false })
  const key = { appName: 'app', ...where }
  const events = eventsOf(lines, path)
  await store.createSession({ ...key, events: path === undefined ? events : [] })
  if (path !== undefined) {
    const lease = await store.claim(key)
    await store.append(
      lease,
      0,
      events.map((event) => ({ event })),
    )
    await store.release(lease)
  }
  const before = JSON.stringify(await storedEvents(store))
  const steps = [{ calls: [{ name: 'refund', args: { amount: 2 } }] }, 'yes', 'no']
  const { runner, model } = startProcess(store, { tools: [refund], steps, runner: { whilePaused: 'cancel' } })
  const completions = [await sendMessage(runner, 'hi'), await sendMessage(runner, 'and now?')]
  return {
    replies: completions.map(({ text, error }) => error ?? text),
    problems: model.requests.flatMap(({ contents }) => historyProblems(contents)),
    run: run.mock.calls.map(([{ amount }]) => amount),
    isLogAsItWas: JSON.stringify((await storedEvents(store)).slice(0, lines.length)) === before,
  }
}

const fine = { replies: ['yes', 'no'], problems: [], run: [2], isLogAsItWas: true }

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  describe.each([
    ['an imported log', undefined],
    ['a log of this agent', 'agent'],
  ])('%s', (_whose, path) => {
    test.each(malformedLogs)('sends a valid history after %s [PR-11]', async (_name, lines) => {
      expect(await sendMessagesAfter(newStore(), lines, path)).toEqual(fine)
    })
  })

  test('sends a valid history after any random log [PR-11]', async () => {
    const id = fc.constantFrom('a', 'b', 'c', '', 'a/b', '__proto__')
    const line = fc.oneof(
      fc.constantFrom(userText('go'), modelText('done'), { ...modelText('psst'), author: 'other' }),
      fc.uniqueArray(id, { minLength: 1 }).map((ids) => modelCalls(...ids)),
      fc.array(id, { minLength: 1, maxLength: 4 }).map((ids) => toolResponses(...ids)),
      id.map(pendingHandle),
      id.map((callId) => confirmationRequest(`q-${callId}`, callId)),
      fc.tuple(id, fc.boolean()).map(([callId, confirmed]) => confirmationAnswer(`q-${callId}`, confirmed)),
      id.map((callId) => ({ ...userText(''), content: { role: 'user' as const, parts: [responsePart(callId)] } })),
    )
    const lines = fc.array(
      fc.tuple(line, fc.boolean()).map(([one, isLater]) => (isLater ? inLaterInvocation(one) : one)),
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
