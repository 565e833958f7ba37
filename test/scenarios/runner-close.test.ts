import { InMemorySessionService, LlmAgent, Runner } from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { collect, createDeferred, plainTool, recordingLogger } from './kit.ts'

const key = { userId: 'ada', sessionId: 's1' }

const LOOK: ScriptedStep = { calls: [{ name: 'look' }] }

function slow(sessionService = new InMemorySessionService(), steps = [LOOK, 'done']) {
  const begun = createDeferred()
  const held = createDeferred()
  const look = {
    ...plainTool('look', async (_, { signal }) => {
      begun.resolve()
      await Promise.race([held.promise, new Promise((_, reject) => signal.addEventListener('abort', reject))])
      return 'seen'
    }),
    effect: 'none' as const,
  }
  const model = scriptedModel(steps)
  const agent = new LlmAgent({ name: 'agent', model, tools: [look] })
  const runner = new Runner({ appName: 'app', agent, sessionService, logger: recordingLogger() })
  return { runner, sessionService, begun: begun.promise, release: held.resolve }
}

test('close({ graceMs }) lets a run end for its consumer and starts no other', async () => {
  const { runner, begun, release } = slow()
  const run = collect(runner.run({ ...key, message: 'Go' }))
  await begun
  const closing = runner.close({ graceMs: 60_000, interrupt: true })
  await expect(runner.complete({ userId: 'ada', message: 'Late' })).rejects.toThrow('The runner is closed')
  release()
  await closing
  expect((await run).at(-1)?.content?.parts).toEqual([{ text: 'done' }])
})

test('close({ interrupt }) leaves a run that takes longer for recover() of another process', async () => {
  const { runner, sessionService, begun } = slow()
  const run = collect(runner.run({ ...key, message: 'Go' }))
  await begun
  const ended = expect(run).rejects.toMatchObject({ code: 'INTERRUPTED', status: 503 })
  await runner.close({ graceMs: 1, interrupt: true })
  await ended
  expect(await sessionService.interrupted({ appName: 'app' })).toEqual([{ appName: 'app', ...key }])
  const next = slow(sessionService, ['done'])
  next.release()
  expect(await next.runner.recover({ where: ({ sessionId }) => sessionId !== 's1' })).toEqual([])
  const [recovered] = await next.runner.recover()
  const events = recovered ? await collect(recovered) : []
  expect(events.map(({ content }) => content?.role)).toEqual(['tool', 'model'])
})

test('close() without options cancels runs', async () => {
  const { runner, sessionService, begun } = slow()
  const run = collect(runner.run({ ...key, message: 'Go' }))
  await begun
  await runner.close()
  expect((await run).at(-1)?.errorCode).toBe('CANCELLED')
  expect(await sessionService.interrupted({ appName: 'app' })).toEqual([])
})
