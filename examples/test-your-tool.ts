// Tests a tool alone, an agent with a scripted model, and a recording of its session. It uses plain asserts; any test runner works.
import assert from 'node:assert/strict'
import { LlmAgent, Runner, tool } from 'toolwright'
import { recordCase, runEvals } from 'toolwright/eval'
import { createToolContext, scriptedModel } from 'toolwright/testing'
import { z } from 'zod'

const addToCart = tool({
  name: 'add_to_cart',
  description: 'Put something into the cart',
  parameters: z.object({ item: z.string(), count: z.number().int().positive().default(1) }),
  run: ({ item, count }, context) => {
    const cart = context.state.get<Record<string, number>>('cart', {})
    context.state.set('cart', { ...cart, [item]: (cart[item] ?? 0) + count })
    return { item, inCart: (cart[item] ?? 0) + count }
  },
})

// The tool alone: run its body with a context and check the context afterwards.
const context = createToolContext({ state: { cart: { apple: 2 } } })
const result = await addToCart.run({ item: 'apple', count: 3 }, context)
assert.deepEqual(result, { item: 'apple', inCart: 5 })
assert.deepEqual(context.stateDelta, { cart: { apple: 5 } })
console.log('The tool adds to what is there.')

// The agent: the script holds the replies of the model, everything else is real.
const model = scriptedModel([
  { calls: [{ name: 'add_to_cart', args: { item: 'pear', count: -1 } }] },
  { calls: [{ name: 'add_to_cart', args: { item: 'pear' } }] },
  'One pear it is.',
])
const agent = new LlmAgent({ name: 'clerk', model, tools: [addToCart] })
const runner = new Runner({ appName: 'shop', agent })
const key = { appName: 'shop', userId: 'ada', sessionId: 's1' }
const { text } = await runner.complete({ ...key, message: 'A pear, please.' })
const state = { ...(await runner.sessionService.getSession(key))?.state }
assert.equal(text, 'One pear it is.')
assert.deepEqual(state, { cart: { pear: 1 } })
model.assertComplete()
console.log('The agent recovers from bad arguments.')

// The next request of the model contains the error of its call.
const told = model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse?.response
assert.equal(told?.errorCode, 'INVALID_ARGS')
console.log('It was told:', told?.error)

// The recording: replies and results are those of the session, and everything else runs again. `toolwright eval record`
// keeps one in a file.
const { entries } = (await runner.sessionService.readLog?.(key)) ?? { entries: [] }
const recorded = await recordCase({ key, entries, state }, { target: agent, id: 'pear' })
const { cases } = await runEvals({ sets: [{ id: 'cart', cases: [recorded] }], target: agent, mode: 'replay' })
assert.equal(cases[0]?.status, 'PASSED')
console.log('A replay does the same.')
await runner.close()
