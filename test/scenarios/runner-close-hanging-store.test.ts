// Closing a runner whose store no longer answers.
import { InMemorySessionService, LlmAgent, Runner, type SessionService } from 'toolwright'
import { connectLive } from 'toolwright/live'
import { scriptedLive, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { createDeferred, plainTool, recordingLogger } from './kit.ts'

/** A store that stops to answer: neither append nor release ends any more. */
function hangingStore(): { sessionService: SessionService; hang(): void } {
  const store = new InMemorySessionService()
  let isHanging = false
  const never = new Promise<never>(() => {})
  const sessionService = new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => (isHanging ? never : Reflect.apply(member, target, args))
    },
  })
  const hang = (): void => {
    isHanging = true
  }
  return { sessionService, hang }
}
/** Timers that wait a moment instead of seconds. */
const ports = {
  setTimer: (callback: () => void, ms: number): (() => void) => {
    const timer = setTimeout(callback, Math.min(ms, 20))
    return () => clearTimeout(timer)
  },
}

test('runner.close() ends when the store hangs, and names the sessions', async () => {
  const { sessionService, hang } = hangingStore()
  const started = createDeferred()
  const wait = plainTool('wait', () => {
    started.resolve()
    return new Promise(() => {})
  })
  const model = scriptedModel([{ calls: [{ name: 'wait' }] }])
  const logger = recordingLogger()
  const agent = new LlmAgent({ name: 'desk', model, tools: [{ ...wait, timeoutMs: Number.POSITIVE_INFINITY }] })
  const runner = new Runner({ appName: 'app', agent, sessionService, logger, ports, toolTimeoutMs: 1e9 })
  void runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go.' }).catch(() => {})
  await started.promise
  hang()
  await runner.close()
  expect(logger.lines.join()).toContain('did not record the end of 1 runs within 10000 ms: sessions "s1"')
})

test('runner.close() and the live session end when the store hangs', async () => {
  const { sessionService, hang } = hangingStore()
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel([]) })
  const logger = recordingLogger()
  const runner = new Runner({ appName: 'app', agent, sessionService, logger, ports })
  const session = await connectLive({ runner, userId: 'ada', model: scriptedLive(['Hello.']) })
  hang()
  await runner.close()
  await session.ended
})

test('runner.close() waits for a store that is slow, and records the end of the run', async () => {
  const store = new InMemorySessionService()
  const started = createDeferred()
  const wait = plainTool('wait', (_, { signal }) => {
    started.resolve()
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  const model = scriptedModel([{ calls: [{ name: 'wait' }] }])
  const agent = new LlmAgent({ name: 'desk', model, tools: [wait] })
  const runner = new Runner({ appName: 'app', agent, sessionService: store })
  const run = runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go.' })
  await started.promise
  await runner.close()
  expect((await run).error?.code).toBe('CANCELLED')
})
