import { approve, LlmAgent, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, inject, test } from 'vitest'
import { ADA, type Fleet, openFleet, queryRestate } from './fleet.test-kit.ts'

function desk(): { agent: LlmAgent; charged: string[] } {
  const charged: string[] = []
  const charge = tool({
    name: 'charge',
    description: 'Charges a customer',
    requiresConfirmation: true,
    run: (_, { invocation }) => {
      charged.push(invocation.session.id)
      return { ok: true }
    },
  })
  const model = scriptedModel(({ contents }) =>
    contents.at(-1)?.parts[0]?.functionResponse ? 'Done.' : { calls: [{ name: 'charge', args: {} }] },
  )
  return { agent: new LlmAgent({ name: 'desk', model, tools: [charge] }), charged }
}

describe.skipIf(!inject('restate'))('a pause on Restate', () => {
  test('probe', async () => {
    const { agent, charged } = desk()
    const fleet = await openFleet(agent)
    await fleet.startWorker()
    const outcome = await fleet.engine.call({ appName: fleet.appName, ...ADA }, 'run', { message: 'Charge.' })
    console.log(outcome)
    console.log(
      await queryRestate(
        `SELECT id, target, status, scheduled_start_at, idempotency_key, pinned_deployment_id FROM sys_invocation WHERE target_service_name LIKE '%${fleet.appName.slice(-12)}%'`,
      ),
    )
    const message = (await fleet.web.pending(ADA)).map((request) => approve(request))
    const r = await fleet.call('answer', { message })
    console.log(r.status, await r.text(), charged)
    const r2 = await fleet.call('answer', { message })
    console.log(r2.status, await r2.text(), charged)
    const r3 = await fleet.call('answer', { message: 'x'.repeat(3_000_000) })
    console.log(r3.status, (await r3.text()).slice(0, 300), charged)
    await fleet.engine
      .call({ appName: fleet.appName, ...ADA }, 'run', { message: 'x'.repeat(3_000_000) })
      .catch((e) => console.log(String(e)))
  })
})
