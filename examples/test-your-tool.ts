// Tests a tool alone, and an agent with a scripted model. It uses plain asserts; any test runner works.
import assert from 'node:assert/strict'
import { LlmAgent, Runner, tool } from 'toolwright'
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
const runner = new Runner({ appName: 'shop', agent: new LlmAgent({ name: 'clerk', model, tools: [addToCart] }) })
const { text, sessionId } = await runner.complete({ userId: 'ada', message: 'A pear, please.' })
const session = await runner.sessionService.getSession({ appName: 'shop', userId: 'ada', sessionId })
assert.equal(text, 'One pear it is.')
assert.deepEqual(session?.state, { cart: { pear: 1 } })
model.assertComplete()
console.log('The agent recovers from bad arguments.')

// The next request of the model contains the error of its call.
const told = model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse?.response
assert.equal(told?.errorCode, 'INVALID_ARGS')
console.log('It was told:', told?.error)
await runner.close()
