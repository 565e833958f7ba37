import { tool } from 'toolwright'
import { expect, test } from 'vitest'
import { CallRunner } from '../../../engine/runner/single-call/call-runner.ts'
import { PendingSessions } from './pending-sessions.ts'

test('the oldest pending call is cancelled when there are too many, and ended calls leave no session', async () => {
  const gated = tool({ name: 'gated', description: 'Needs an approval', requiresConfirmation: true, run: () => 'ok' })
  const calls = new CallRunner({ appName: 'app', agentName: 'mcp', tools: [gated] })
  const sessions = new PendingSessions(calls, 2)
  const ids: string[] = []
  for (let at = 0; at < 3; at++) {
    const { sessionId } = await calls.run({ name: 'gated', args: {} }, { userId: 'ada' })
    await sessions.keep({ userId: 'ada', sessionId })
    ids.push(sessionId)
  }
  const open = async (): Promise<string[]> => (await calls.runner.pending()).map(({ sessionId }) => sessionId)
  expect(await open()).toEqual(ids.slice(1))
  const { sessionService } = calls.runner
  const kept = await sessionService.listSessions({ appName: 'app', userId: 'ada' })
  expect(kept.map(({ id }) => id).sort()).toEqual(ids.slice(1).sort())
  await sessions.end({ userId: 'ada', sessionId: ids[1] ?? '' }, 'result')
  expect(await open()).toEqual(ids.slice(2))
})

test('a user with many pending calls does not end those of other users', async () => {
  const gated = tool({ name: 'gated', description: 'Needs an approval', requiresConfirmation: true, run: () => 'ok' })
  const calls = new CallRunner({ appName: 'app', agentName: 'mcp', tools: [gated] })
  const sessions = new PendingSessions(calls, 3)
  const ids: string[] = []
  for (const userId of ['ada', 'eve', 'eve', 'eve', 'eve']) {
    const { sessionId } = await calls.run({ name: 'gated', args: {} }, { userId })
    await sessions.keep({ userId, sessionId })
    ids.push(sessionId)
  }
  const open = (await calls.runner.pending()).map(({ sessionId }) => sessionId)
  expect(open.sort()).toEqual([ids[0], ids[3], ids[4]].sort())
})
