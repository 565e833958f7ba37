// Calls of an agent go on after a live session was transferred to another agent.
import { background, LlmAgent, Runner, type Tool, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { responseIn, startLive } from './live-kit.ts'

function deskWith(own: Tool): Runner {
  const billing = new LlmAgent({ name: 'billing', description: 'Bills', tools: [] })
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel([]), tools: [own], subAgents: [billing] })
  return new Runner({ appName: 'desk', agent })
}

const transfer = { id: 'c2', name: 'transfer_to_agent', args: { agent_name: 'billing' } }

test('a background call of the agent before a transfer keeps running, and its result reaches the model', async () => {
  const found = Promise.withResolvers<object>()
  const search = background(tool({ name: 'search', description: 'Searches', run: () => found.promise }))
  const { connection, session } = await startLive({ runner: deskWith(search) })
  connection.call([{ id: 'c1', name: 'search', args: {} }])
  expect(responseIn(await connection.next('toolResponse'))).toMatchObject({ id: 'c1', willContinue: true })
  connection.call([transfer])
  expect(responseIn(await connection.next('toolResponse')).id).toBe('c2')
  found.resolve({ hits: 1 })
  expect(responseIn(await connection.next('toolResponse'))).toMatchObject({
    id: 'c1',
    response: { status: 'completed', tool: 'search', result: { hits: 1 } },
  })
  expect(session.openCalls).toBe(0)
})

test('a call that is approved after a transfer runs with the tools of the agent that made it', async () => {
  const decision = Promise.withResolvers<{ confirmed: boolean }>()
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ({ paid: true }) })
  const confirmationProvider = (): Promise<{ confirmed: boolean }> => decision.promise
  const { connection, event } = await startLive({ runner: deskWith(pay), confirmationProvider })
  connection.call([{ id: 'c1', name: 'pay', args: {} }])
  await event('request')
  expect(responseIn(await connection.next('toolResponse'))).toMatchObject({ id: 'c1', willContinue: true })
  connection.call([transfer])
  expect(responseIn(await connection.next('toolResponse')).id).toBe('c2')
  decision.resolve({ confirmed: true })
  expect(responseIn(await connection.next('toolResponse'))).toMatchObject({ id: 'c1', response: { paid: true } })
})
