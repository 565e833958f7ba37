// Tests without a network: a scripted model makes the calls, the tools are the real ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { approve, deny, LlmAgent, Runner } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { tools } from './agent.ts'

const userId = 'ada'

function runnerWith(...steps: Parameters<typeof scriptedModel>[0]): Runner {
  const agent = new LlmAgent({ name: 'shop', model: scriptedModel(steps), tools })
  return new Runner({ appName: 'shop', agent })
}

test('finds an order', async () => {
  const runner = runnerWith({ calls: [{ name: 'find_order', args: { orderId: 'A-7' } }] }, 'A lamp.')
  const { text, events } = await runner.complete({ userId, message: 'What is A-7?' })
  assert.equal(text, 'A lamp.')
  assert.match(JSON.stringify(events), /"item":"lamp"/)
})

test('refunds only after an approval', async () => {
  const runner = runnerWith({ calls: [{ name: 'refund_order', args: { orderId: 'A-7' } }] }, 'Done.')
  const { pending, sessionId } = await runner.complete({ userId, message: 'Refund A-7.' })
  assert.equal(pending[0]?.hint, 'Refund order A-7?')
  const { events } = await runner.complete({ userId, sessionId, message: pending.map((request) => approve(request)) })
  assert.match(JSON.stringify(events), /"refunded":40/)
})

test('refunds nothing after a denial', async () => {
  const runner = runnerWith({ calls: [{ name: 'refund_order', args: { orderId: 'A-7' } }] }, 'Not refunded.')
  const { pending, sessionId } = await runner.complete({ userId, message: 'Refund A-7.' })
  const { events } = await runner.complete({ userId, sessionId, message: pending.map((request) => deny(request)) })
  assert.doesNotMatch(JSON.stringify(events), /"refunded"/)
})
