// Hundreds of simultaneous runs: each gets its answer, and the event loop stays responsive.
import { tool } from 'toolwright'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createScenario } from './kit.ts'

const echo = tool({
  name: 'echo',
  description: 'Echo',
  parameters: z.object({ text: z.string() }),
  effect: 'none',
  run: ({ text }) => ({ text }),
})

test('500 simultaneous runs get their own answers and let other tasks run before the last one starts', async () => {
  const { runner } = createScenario({
    tools: [echo],
    steps: Array.from(
      { length: 1_000 },
      () =>
        ({ contents }: { contents: readonly { role: string; parts: readonly { text?: string }[] }[] }) => {
          const request = contents[0]?.parts[0]?.text ?? ''
          return contents.at(-1)?.role === 'tool'
            ? `${request}!`
            : { calls: [{ name: 'echo', args: { text: request } }] }
        },
    ),
  })
  let finished = 0
  let before = 0
  setImmediate(() => {
    before = finished
  })
  const runs = Array.from({ length: 500 }, async (_, at) => {
    const { text } = await runner.complete({ userId: `u${at}`, message: `m${at}` })
    finished++
    return text
  })
  expect(await Promise.all(runs)).toEqual(Array.from({ length: 500 }, (_, at) => `m${at}!`))
  expect(before).toBeLessThan(500)
})

test('a run that is cancelled before it starts makes no model call', async () => {
  const { runner, model } = createScenario({ tools: [echo], steps: Array.from({ length: 500 }, () => 'done') })
  const crowd = Array.from({ length: 200 }, () => runner.complete({ userId: 'ada', message: 'go' }))
  const controller = new AbortController()
  const late = runner.complete({ userId: 'bo', message: 'go', signal: controller.signal })
  controller.abort()
  expect((await late).error?.code).toBe('CANCELLED')
  await Promise.all(crowd)
  expect(model.requests).toHaveLength(200)
})
