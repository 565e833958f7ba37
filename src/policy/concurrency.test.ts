import { expect, test } from 'vitest'
import { tool } from '../tool/define.ts'
import { concurrency } from './concurrency.ts'
import { createContext, createHeldBody, flushPromises, toolCaller } from './call-tool.test-kit.ts'

const through = toolCaller(({ tool, args, context }) => tool.run(args, context))

test('so many at once, the others in the order they came', async () => {
  const body = createHeldBody()
  const made = concurrency(tool({ name: 't', description: 'd', run: body.run }), 2)
  const calls = [1, 2, 3, 4].map(() => through(made))
  await flushPromises()
  expect(body.calls).toHaveLength(2)
  body.calls[1]?.finish('second')
  await flushPromises()
  expect(body.calls).toHaveLength(3)
  body.calls[0]?.fail(new Error('first'))
  await expect(calls[0]).rejects.toThrow('first')
  await flushPromises()
  expect(body.calls).toHaveLength(4)
  body.calls[2]?.finish('third')
  body.calls[3]?.finish('fourth')
  expect(await Promise.all(calls.slice(1))).toEqual(['second', 'third', 'fourth'])
})

test('one that is aborted while it waits leaves the line and takes no slot', async () => {
  const body = createHeldBody()
  const made = concurrency(tool({ name: 't', description: 'd', run: body.run }), { max: 1 })
  const first = through(made)
  const controller = new AbortController()
  const second = through(made, {}, createContext({ signal: controller.signal }))
  const third = through(made)
  await flushPromises()
  controller.abort(new Error('cancelled'))
  await expect(second).rejects.toThrow('cancelled')
  body.calls[0]?.finish(1)
  expect(await first).toBe(1)
  await flushPromises()
  expect(body.calls).toHaveLength(2)
  body.calls[1]?.finish(3)
  expect(await third).toBe(3)
})

test('a body that throws at once gives its slot back', async () => {
  const made = concurrency(
    tool({
      name: 't',
      description: 'd',
      run: () => {
        throw new Error('boom')
      },
    }),
    1,
  )
  for (let i = 0; i < 3; i++) await expect(through(made)).rejects.toThrow('boom')
})

test('each key has its own slots', async () => {
  const body = createHeldBody()
  const made = concurrency(tool({ name: 't', description: 'd', run: body.run }), {
    max: 1,
    key: ({ context }) => context.invocation.userId,
  })
  const calls = [through(made), through(made, {}, createContext({ userId: 'bob' }))]
  await flushPromises()
  expect(body.calls).toHaveLength(2)
  for (const call of body.calls) call.finish(0)
  await Promise.all(calls)
})

test('bad options are refused when built', () => {
  const made = tool({ name: 't', description: 'd', run: () => 1 })
  for (const max of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => concurrency(made, max)).toThrow(/max/)
  expect(() => concurrency(made, { max: 1, key: 'user' as never })).toThrow(/key/)
})
