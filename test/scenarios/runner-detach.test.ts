import { type Event, LlmAgent, Runner } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { createDeferred, plainTool, recordingLogger } from './kit.ts'

const key = { userId: 'ada', sessionId: 's1' }

function slow() {
  const begun = createDeferred()
  const held = createDeferred()
  const ended = createDeferred()
  const look = plainTool('look', async () => {
    begun.resolve()
    await held.promise
    return 'seen'
  })
  const model = scriptedModel([{ calls: [{ name: 'look' }] }, 'done', 'later'])
  const runner = new Runner({
    appName: 'app',
    agent: new LlmAgent({ name: 'agent', model, tools: [look] }),
    plugins: [{ name: 'end', afterRun: () => ended.resolve() }],
    logger: recordingLogger(),
  })
  const stored = async () =>
    ((await runner.sessionService.getSession({ appName: 'app', ...key }))?.events ?? []).map(
      ({ content, errorCode }) => errorCode ?? content?.parts[0]?.text ?? content?.role,
    )
  return { runner, begun: begun.promise, release: held.resolve, ended: ended.promise, stored }
}

test('a detached run completes without a consumer', async () => {
  const { runner, begun, release, ended, stored } = slow()
  runner.run({ ...key, message: 'Go', runConfig: { detach: true } })
  await begun
  release()
  await ended
  expect(await stored()).toEqual(['Go', 'model', 'tool', 'done'])
})

test('a detached run completes when its consumer stops iterating', async () => {
  const { runner, begun, release, ended, stored } = slow()
  for await (const _ of runner.run({ ...key, message: 'Go', runConfig: { detach: true } })) break
  await begun
  release()
  await ended
  expect(await stored()).toEqual(['Go', 'model', 'tool', 'done'])
})

test('a late consumer of a detached run gets every stored event', async () => {
  const { runner, release, ended } = slow()
  const run = runner.run({ ...key, message: 'Go', runConfig: { detach: true } })
  release()
  await ended
  const events: Event[] = []
  for await (const event of run) events.push(event)
  expect(events.map(({ content }) => content?.role)).toEqual(['model', 'tool', 'model'])
})

test('run.cancel() cancels a detached run', async () => {
  const { runner, begun, stored } = slow()
  const run = runner.run({ ...key, message: 'Go', runConfig: { detach: true } })
  await begun
  await run.cancel()
  expect((await stored()).at(-1)).toBe('CANCELLED')
})

test("the caller's signal cancels a detached run without a consumer", async () => {
  const { runner, begun, release, ended, stored } = slow()
  const controller = new AbortController()
  runner.run({ ...key, message: 'Go', signal: controller.signal, runConfig: { detach: true } })
  await begun
  controller.abort()
  release()
  await ended
  expect((await stored()).at(-1)).toBe('CANCELLED')
})

test('a detached run that cannot start rejects only for its consumer', async () => {
  const { runner, begun, release, ended } = slow()
  runner.run({ ...key, message: 'Go', runConfig: { detach: true } })
  await begun
  const second = runner.run({ ...key, message: 'Me too', runConfig: { detach: true } })
  await expect(async () => {
    for await (const _ of second);
  }).rejects.toMatchObject({ code: 'SESSION_BUSY' })
  release()
  await ended
})
