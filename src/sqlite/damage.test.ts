// Rows that something else has written over, as whoever runs agents meets them: nothing is done twice, and nobody else suffers.
import { DatabaseSync } from 'node:sqlite'
import { expect, test, vi } from 'vitest'
import { LlmAgent } from '../agent/llm-agent.ts'
import { Runner } from '../runner/runner.ts'
import { type Step, scriptedModel } from '../testing/scripted-model.ts'
import { entryOf, HOME, write } from '../testing/session-fixtures.ts'
import { tool } from '../tool/define.ts'
import { temporaryFile } from './file.test-kit.ts'
import { type SqliteServices, sqlite } from './sqlite.ts'

function damage(file: string, sql: string): void {
  const other = new DatabaseSync(file)
  other.exec(sql)
  other.close()
}

/** A runner whose agent can pay; paying may need somebody's yes. */
function paying(services: SqliteServices, steps: readonly Step[], run: () => unknown, requiresConfirmation = false) {
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation, run })
  const agent = new LlmAgent({ name: 'clerk', model: scriptedModel(steps), tools: [pay] })
  return new Runner({ appName: HOME.appName, agent, ...services })
}

const call: Step = { calls: [{ id: 'c1', name: 'pay' }] }

test.each([
  ['sound', '{"type":"intent","invocationId":"i1","path":"clerk","calls":[{"id":"c1"}]}', true],
  ['of no type', '{"invocationId":"i1"}', false],
  ['of a type nobody knows', '{"type":"bogus","invocationId":"i1"}', false],
  ['of no invocation', '{"type":"denial","requestId":"r1"}', false],
  ['an intent without calls', '{"type":"intent","invocationId":"i1"}', false],
  ['an intent of calls that are none', '{"type":"intent","invocationId":"i1","calls":[7]}', false],
  ['a request without an id', '{"type":"request","invocationId":"i1","callId":"c1"}', false],
  ['a request about nothing', '{"type":"request","invocationId":"i1","id":"r1"}', false],
  ['a denial of nothing', '{"type":"denial","invocationId":"i1"}', false],
])('a record that is %s is read only when it is sound', async (_what, body, isSound) => {
  const file = temporaryFile()
  using services = sqlite(file)
  await services.sessionService.createSession(HOME)
  const record = { type: 'intent', invocationId: 'i1', path: 'clerk', calls: [] } as const
  await write(services.sessionService, HOME, entryOf('e1'), { record })
  damage(file, `UPDATE toolwright_entries SET body = '${body}' WHERE seq = 2`)
  using again = sqlite(file)
  const lease = await again.sessionService.claim(HOME)
  const read = again.sessionService.read(lease).then(({ entries }) => entries[1]?.record)
  if (isSound) expect(await read).toEqual(JSON.parse(body))
  else await expect(read).rejects.toMatchObject({ code: 'STORAGE', message: expect.stringContaining('Entry 2') })
})

test.each([
  ['sound', undefined, 'UNKNOWN_OUTCOME'],
  ['of no type that is known', '{"type":"bogus","invocationId":"i1"}', 'STORAGE'],
  ['no record at all', '7', 'STORAGE'],
])('a body that has begun is not begun again when the record of it is %s', async (_what, body, told) => {
  const file = temporaryFile()
  using services = sqlite(file)
  const run = vi.fn(() => new Promise(() => {}))
  void paying(services, [call], run).run({ ...HOME, message: 'go', runConfig: { detach: true } })
  await vi.waitFor(() => expect(run).toHaveBeenCalledOnce())
  damage(file, 'UPDATE toolwright_sessions SET lease_until = 0') // its process is gone
  if (body) damage(file, `UPDATE toolwright_entries SET body = '${body}' WHERE event_id IS NULL`)
  using again = sqlite(file)
  expect(await resumed(paying(again, ['done'], run))).toContain(told)
  expect(run).toHaveBeenCalledOnce()
})

test('a damaged question of one user hides nobody else’s, and does not keep recover() from working', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  const runner = paying(services, [call, call], () => ({ paid: true }), true)
  for (const userId of ['eve', 'ada']) await runner.complete({ ...HOME, userId, message: 'go' })
  expect((await runner.pending()).map(({ userId }) => userId)).toEqual(['eve', 'ada'])
  damage(file, `UPDATE toolwright_pending SET body = '{"x' WHERE body LIKE '%eve%'`)
  expect((await runner.pending()).map(({ userId }) => userId)).toEqual(['ada'])
  expect(await runner.recover()).toEqual([])
})

test('a damaged item of an inbox is passed over: the session goes on', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  const runner = paying(services, ['one', 'two'], () => ({}))
  await runner.complete({ ...HOME, message: 'go' })
  const edit = (id: string, stateDelta: object) =>
    services.sessionService.post(HOME, { id, type: 'state', stateDelta: { ...stateDelta } })
  await edit('i1', { color: 'red' })
  await edit('i2', { size: 'xl' })
  damage(file, `UPDATE toolwright_inbox SET body = '{"x' WHERE item_id = 'i1'`)
  expect((await runner.complete({ ...HOME, message: 'more' })).text).toBe('two')
  expect((await services.sessionService.getSession(HOME))?.state).toEqual({ size: 'xl' })
})

/** All that was told on the way, or why there was none. */
async function resumed(runner: Runner): Promise<string> {
  const told: unknown[] = []
  try {
    for await (const event of runner.resume(HOME)) told.push(event)
  } catch (error) {
    return (error as { code: string }).code
  }
  return JSON.stringify(told)
}
