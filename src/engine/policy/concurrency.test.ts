import { expect, test } from 'vitest'
import { tool } from '../tool/define-tool.ts'
import { createContext, createHeldBody, flushPromises, toolCaller } from './call-tool.test-kit.ts'
import { concurrency } from './concurrency.ts'

const callTool = toolCaller(({ tool, args, context }) => tool.run(args, context))

test('concurrency() runs at most max calls at once and the others in order', async () => {
  const body = createHeldBody()
  const made = concurrency(tool({ name: 't', description: 'd', run: body.run }), 2)
  const calls = [1, 2, 3, 4].map(() => callTool(made))
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

test('concurrency() removes an aborted call from the queue without using a slot', async () => {
  const body = createHeldBody()
  const made = concurrency(tool({ name: 't', description: 'd', run: body.run }), { max: 1 })
  const first = callTool(made)
  const controller = new AbortController()
  const second = callTool(made, {}, createContext({ signal: controller.signal }))
  const third = callTool(made)
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

test('concurrency() frees the slot of a body that throws immediately', async () => {
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
  for (let i = 0; i < 3; i++) await expect(callTool(made)).rejects.toThrow('boom')
})

test('concurrency() limits each key separately', async () => {
  const body = createHeldBody()
  const made = concurrency(tool({ name: 't', description: 'd', run: body.run }), {
    max: 1,
    key: ({ context }) => context.invocation.userId,
  })
  const calls = [callTool(made), callTool(made, {}, createContext({ userId: 'bob' }))]
  await flushPromises()
  expect(body.calls).toHaveLength(2)
  for (const call of body.calls) call.finish(0)
  await Promise.all(calls)
})

test('concurrency() rejects invalid options', () => {
  const made = tool({ name: 't', description: 'd', run: () => 1 })
  for (const max of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => concurrency(made, max)).toThrow(/max/)
  expect(() => concurrency(made, { max: 1, key: 'user' as never })).toThrow(/key/)
})
