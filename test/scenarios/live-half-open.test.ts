// A connection whose other side is gone without a word.
import { LlmAgent, Runner } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'
import { startLive } from './live-kit.ts'

/** A clock that runs a hundred times as fast, so that half a minute passes in a moment. */
const FACTOR = 100
const ports = {
  monotonicNow: () => performance.now() * FACTOR,
  setTimer: (callback: () => void, ms: number): (() => void) => {
    const timer = setTimeout(callback, ms / FACTOR)
    return () => clearTimeout(timer)
  },
}

test('a live session connects again when the model no longer answers pings, and the conversation goes on', async () => {
  const runner = new Runner({
    appName: 'app',
    agent: new LlmAgent({ name: 'desk', model: scriptedModel([]) }),
    ports,
  })
  onTestFinished(() => runner.close())
  const { connection, server, session, event } = await startLive({ runner, userId: 'ada' })
  connection.stopReading()
  const next = await server.nextConnection()
  await event('reconnecting')
  await event('resumed')
  await session.send('Are you there?')
  await next.next('realtimeInput')
  next.say('Yes.')
  expect(await event('text')).toMatchObject({ text: 'Yes.' })
})
