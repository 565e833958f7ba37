import { InMemorySessionService, LlmAgent, Runner, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'

test('the runner cancels a run from another runner through the inbox', async () => {
  const sessionService = new InMemorySessionService()
  const timers: (() => void)[] = []
  let started = (): void => {}
  const running = new Promise<void>((resolve) => {
    started = resolve
  })
  const slow = tool({
    name: 'slow',
    description: 'never ends by itself',
    run: (_args, { signal }) => {
      started()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  const make = (): Runner =>
    new Runner({
      appName: 'app',
      agent: new LlmAgent({ name: 'a', model: scriptedModel([{ calls: [{ name: 'slow' }] }, 'again']), tools: [slow] }),
      sessionService,
      // The holder drains its inbox on a background timer, which the test fires.
      ports: {
        setTimer: (callback, _ms, options) => {
          if (options?.background) timers.push(callback)
          return () => {}
        },
      },
    })
  const holder = make()
  const completion = holder.complete({ userId: 'u', sessionId: 's', message: 'go' })
  await running
  await make().cancel({ userId: 'u', sessionId: 's' })
  for (const tick of timers.splice(0)) tick()
  const { error, events } = await completion
  expect(error?.code).toBe('CANCELLED')
  expect(events.at(-2)?.content?.parts[0]?.functionResponse?.response).toMatchObject({ status: 'unknown_outcome' })
  const lease = await sessionService.claim({ appName: 'app', userId: 'u', sessionId: 's' })
  expect(await sessionService.inbox(lease)).toEqual([]) // the last append took the cancel item
})
