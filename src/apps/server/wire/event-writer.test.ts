import { expect, test } from 'vitest'
import { scriptedModel } from '../../../adapters/testing/scripted-model.ts'
import type { Event } from '../../../core/event/event.ts'
import { LogReader } from '../../../core/event/views/log-reader.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { background } from '../../../engine/policy/background.ts'
import { longRunning } from '../../../engine/policy/long-running.ts'
import { respond } from '../../../engine/runner/approvals/answer-parts.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import { tool } from '../../../engine/tool/define-tool.ts'
import { EventWriter } from './event-writer.ts'

const key = { userId: 'ada', sessionId: 's1' }

/** The events of a session, as the workbench gets them while it follows the runs: those of the user come from the log. */
async function streamed(runner: Runner): Promise<readonly Event[]> {
  const session = await runner.sessionService.getSession({ appName: 'desk', ...key })
  const writer = new EventWriter()
  const events = session?.events ?? []
  return events.flatMap((event) => (event.author === 'user' ? [event] : (writer.write(event) as unknown as Event[])))
}

function readCall(events: readonly Event[]): unknown {
  const reader = new LogReader()
  for (const event of events) reader.add({ event })
  const [call] = reader.calls()
  return { status: call?.status, handle: call?.handle, response: call?.response?.response }
}

test('a background call that has ended is shown as completed, with its result', async () => {
  const archive = Promise.withResolvers<{ hits: number }>()
  const search = background(
    tool({ name: 'search', description: 'Searches', effect: 'none', run: () => archive.promise }),
  )
  const model = scriptedModel([{ calls: [{ name: 'search' }] }, 'There are 3.'])
  const runner = new Runner({ appName: 'desk', agent: new LlmAgent({ name: 'desk', model, tools: [search] }) })
  await runner.complete({ ...key, message: 'Search.' })
  const handle = { status: 'running', tool: 'search' }
  expect(readCall(await streamed(runner))).toEqual({ status: 'waiting', handle, response: undefined })
  archive.resolve({ hits: 3 })
  await runner.internals.backgroundOf(key)
  const response = { status: 'completed', tool: 'search', result: { hits: 3 } }
  expect(readCall(await streamed(runner))).toMatchObject({ status: 'completed', response })
})

test('a long-running call is shown with its handle, and with its result when the result has arrived', async () => {
  const build = longRunning(tool({ name: 'build', description: 'Builds', run: () => ({ job: 7 }) }))
  const model = scriptedModel([{ calls: [{ name: 'build' }] }, 'It is built.'])
  const runner = new Runner({ appName: 'desk', agent: new LlmAgent({ name: 'desk', model, tools: [build] }) })
  const { pending } = await runner.complete({ ...key, message: 'Build.' })
  expect(readCall(await streamed(runner))).toMatchObject({ status: 'waiting', handle: { job: 7 } })
  await runner.complete({ ...key, message: pending.map((request) => respond(request, { status: 'green' })) })
  expect(readCall(await streamed(runner))).toMatchObject({ status: 'completed', response: { status: 'green' } })
})
