import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startServer } from '../../../test/postgres/server.ts'
import { scriptedModel } from '../../adapters/testing/scripted-model.ts'
import { HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { LlmAgent } from '../../engine/agent/agents/llm-agent.ts'
import { Runner } from '../../engine/runner/runner.ts'
import { tool } from '../../engine/tool/define-tool.ts'
import { newSchema, serverUrl } from './database.test-kit.ts'
import { postgres } from './postgres.ts'

const PROGRAM = fileURLToPath(new URL('append-program.test-kit.ts', import.meta.url))
const run = promisify(execFile)

test('eight processes with 500 appends each leave a gapless log, in the order of each process', {
  timeout: 180_000,
}, async () => {
  const schema = newSchema()
  await using services = postgres(serverUrl(), { schema })
  const { sessionService } = services
  await sessionService.createSession(HOME)
  const names = Array.from({ length: 8 }, (_, index) => `p${index}`)
  const options = ['--conditions=toolwright:source', '--disable-warning=ExperimentalWarning']
  await Promise.all(names.map((name) => run(process.execPath, [...options, PROGRAM, serverUrl(), schema, name, '500'])))
  const page = await sessionService.readLog?.({ ...HOME })
  const entries = page?.entries ?? []
  expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 4000 }, (_, index) => index + 1))
  for (const name of names) {
    const own = entries.flatMap(({ event }) => (event?.id.startsWith(`${name} `) ? [event.id] : []))
    expect(own).toEqual(Array.from({ length: 500 }, (_, index) => `${name} ${index}`))
  }
  const session = await sessionService.getSession(HOME)
  expect(names.map((name) => session?.state[name])).toEqual(names.map(() => 500))
})

test('fifty runs end right while Postgres is killed, stopped and away', { timeout: 180_000 }, async () => {
  await using server = await startServer()
  await using services = postgres({ connectionString: server.url, max: 10 }, { leaseMs: 3_000 })
  await services.ready()
  const charges: string[] = []
  const charge = tool({
    name: 'charge',
    description: 'Charges a customer',
    effect: 'atMostOnce',
    run: (_args, context) => {
      charges.push(context.idempotencyKey)
      return { ok: true }
    },
  })
  const model = scriptedModel(({ contents }) => {
    const answered = contents.flatMap(({ parts = [] }) => parts).filter((part) => part.functionResponse)
    return answered.length < 3 ? { calls: [{ name: 'charge', args: {} }] } : 'Done.'
  })
  const agent = new LlmAgent({ name: 'desk', model, tools: [charge] })
  const logger = { warn: () => {}, error: () => {} }
  const runner = new Runner({ appName: 'shop', agent, logger, ...services })
  const users = Array.from({ length: 50 }, (_, index) => `u${index}`)
  const runs = users.map((userId) =>
    runner.complete({ userId, sessionId: 's1', message: 'Go' }).catch((error: unknown) => error),
  )
  for (const command of ['kill', 'stop immediately', 'stop'] as const) {
    const before = charges.length
    await expect.poll(() => charges.length).toBeGreaterThan(before + 10)
    await server.send(command)
    await server.send('start')
  }
  const results = await Promise.all(runs)
  const failed = results.filter((result) => result instanceof Error)
  for (const error of failed) expect(error).toBeInstanceOf(ToolwrightError)

  // what was interrupted is continued, as another process would do it
  await expect
    .poll(
      async () => {
        for (const run of await runner.recover()) for await (const _event of run);
        return await services.sessionService.interrupted({ appName: 'shop' })
      },
      { timeout: 60_000, interval: 500 },
    )
    .toEqual([])
  expect(new Set(charges).size).toBe(charges.length)
  for (const userId of users) {
    const page = await services.sessionService.readLog?.({ appName: 'shop', userId, sessionId: 's1' })
    const entries = page?.entries ?? []
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
    const parts = entries.flatMap(({ event }) => event?.content?.parts ?? [])
    const calls = parts.flatMap(({ functionCall }) => functionCall?.id ?? [])
    const responses = parts.flatMap(({ functionResponse }) => functionResponse?.id ?? [])
    expect(responses).toEqual(calls)
  }
})
