import { LlmAgent, LoopAgent, type Plugin, Runner, redact, retry, ToolError, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'

/** A tool that fails as often as there are errors, then works. */
function flaky(errors: unknown[]) {
  return tool({
    name: 'look_up',
    description: 'Looks up a price',
    effect: 'none',
    run: () => {
      if (errors.length > 0) throw errors.shift()
      return { price: 40 }
    },
  })
}

async function attemptsOf(look: ReturnType<typeof flaky>, plugins: Plugin[] = []) {
  let time = 0
  const model = scriptedModel([{ calls: [{ name: 'look_up', id: 'c1' }] }, 'Done.'])
  const agent = new LlmAgent({ name: 'desk', model, tools: [look] })
  const ports = { now: () => (time += 1000) }
  const { events } = await new Runner({ appName: 'shop', agent, plugins, ports }).complete({
    userId: 'ada',
    message: 'Go',
  })
  expect(JSON.stringify(model.requests)).not.toContain('down') // the model gets the result only
  return events.find(({ content }) => content?.role === 'tool')?.failedAttempts?.c1
}

const retries = { attempts: 3, delayMs: 0 }

test('the log says why each attempt of retry() failed', async () => {
  const attempts = await attemptsOf(retry(flaky([new Error('down'), new ToolError('down again')]), retries))
  expect(attempts).toMatchObject([
    { attempt: 1, attempts: 3, error: 'down', errorCode: 'EXECUTION_FAILED' },
    { attempt: 2, attempts: 3, error: 'down again', errorCode: 'EXECUTION_FAILED' },
  ])
  for (const { startedAt, endedAt } of attempts ?? []) expect(endedAt).toBeGreaterThan(startedAt)
})

test('the log has no failed attempts of a call that worked at once, or failed once and was not tried again', async () => {
  expect(await attemptsOf(retry(flaky([]), retries))).toBeUndefined()
  expect(await attemptsOf(retry(flaky([new ToolError('x', { code: 'NOT_FOUND' })]), retries))).toBeUndefined()
  expect(await attemptsOf(redact(flaky([new Error('x')]), ['price']))).toBeUndefined()
})

test('attempts have no message where onToolError may hide it', async () => {
  const hides: Plugin = { name: 'hides', onToolError: () => ({ result: { sorry: true } }) }
  const attempts = await attemptsOf(retry(flaky([new Error('down')]), retries), [hides])
  expect(attempts).toMatchObject([{ attempt: 1, errorCode: 'EXECUTION_FAILED' }])
  expect(JSON.stringify(attempts)).not.toContain('down')
})

test('the log has the latest 20 attempts, with short messages', async () => {
  const errors = Array.from({ length: 30 }, (_, at) => new Error(`${at} ${'x'.repeat(10_000)}`))
  const attempts = await attemptsOf(retry(flaky(errors), { attempts: 40, delayMs: 0 }))
  expect(attempts?.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 20 }, (_, at) => at + 11))
  expect(JSON.stringify(attempts).length).toBeLessThan(20_000)
})

test('rounds of a loop have no failed attempts of each other', async () => {
  const look = retry(flaky([new Error('first')]), retries)
  const call = { calls: [{ name: 'look_up' }] }
  const worker = new LlmAgent({ name: 'worker', model: scriptedModel([call, 'One.', call, 'Two.']), tools: [look] })
  const agent = new LoopAgent({ name: 'loop', subAgents: [worker], maxIterations: 2 })
  const { events } = await new Runner({ appName: 'shop', agent }).complete({ userId: 'ada', message: 'Go' })
  const responses = events.filter(({ content }) => content?.role === 'tool')
  expect(responses.map(({ failedAttempts }) => Object.values(failedAttempts ?? {}).flat().length)).toEqual([1, 0])
})
