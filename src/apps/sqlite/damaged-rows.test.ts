// Rows damaged by another program: no tool runs twice, and other sessions are not affected.
import { DatabaseSync } from 'node:sqlite'
import { expect, test, vi } from 'vitest'
import { type ScriptedStep, scriptedModel } from '../../adapters/testing/scripted-model.ts'
import { entryOf, HOME, write } from '../../adapters/testing/suites/session-fixtures.ts'
import type { JsonObject } from '../../core/base/json.ts'
import type { PendingRequest } from '../../core/event/pending-request.ts'
import { LlmAgent } from '../../engine/agent/agents/llm-agent.ts'
import { approve } from '../../engine/runner/approvals/answer-parts.ts'
import { Runner } from '../../engine/runner/runner.ts'
import { tool } from '../../engine/tool/define-tool.ts'
import { type SqliteServices, sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

function damage(file: string, sql: string): void {
  const other = new DatabaseSync(file)
  other.exec(sql)
  other.close()
}

/** A runner whose agent can pay; paying may need an approval. */
function paying(
  services: SqliteServices,
  steps: readonly ScriptedStep[],
  run: () => unknown,
  requiresConfirmation = false,
) {
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation, run })
  const agent = new LlmAgent({ name: 'clerk', model: scriptedModel(steps), tools: [pay] })
  return new Runner({ appName: HOME.appName, agent, ...services })
}

const call: ScriptedStep = { calls: [{ id: 'c1', name: 'pay' }] }

test.each([
  ['a valid intent', '{"type":"intent","invocationId":"i1","path":"clerk","calls":[{"id":"c1"}]}', true],
  ['a record without a type', '{"invocationId":"i1"}', false],
  ['a record of an unknown type', '{"type":"bogus","invocationId":"i1"}', false],
  ['a record without an invocation', '{"type":"denial","requestId":"r1"}', false],
  ['an intent without calls', '{"type":"intent","invocationId":"i1"}', false],
  ['an intent with invalid calls', '{"type":"intent","invocationId":"i1","calls":[7]}', false],
  ['a request without an id', '{"type":"request","invocationId":"i1","callId":"c1"}', false],
  ['a request without a call', '{"type":"request","invocationId":"i1","id":"r1"}', false],
  ['a denial without a request', '{"type":"denial","invocationId":"i1"}', false],
])('a stored record is returned only when it is valid: %s', async (_what, body, isSound) => {
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
  ['valid', undefined, 'UNKNOWN_OUTCOME'],
  ['of an unknown type', '{"type":"bogus","invocationId":"i1"}', 'STORAGE'],
  ['not a record', '7', 'STORAGE'],
])('a tool body does not run twice after a crash when its intent is %s', async (_what, body, told) => {
  const file = temporaryFile()
  using services = sqlite(file)
  const run = vi.fn(() => new Promise(() => {}))
  void paying(services, [call], run).run({ ...HOME, message: 'go', runConfig: { detach: true } })
  await vi.waitFor(() => expect(run).toHaveBeenCalledOnce())
  damage(file, 'UPDATE toolwright_sessions SET lease_until = 0') // as if its process died
  if (body) damage(file, `UPDATE toolwright_entries SET body = '${body}' WHERE event_id IS NULL`)
  using again = sqlite(file)
  expect(await resumed(paying(again, ['done'], run))).toContain(told)
  expect(run).toHaveBeenCalledOnce()
})

test('a damaged pending request hides no other request and does not stop recover()', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  const runner = paying(services, [call, call], () => ({ paid: true }), true)
  for (const userId of ['eve', 'ada']) await runner.complete({ ...HOME, userId, message: 'go' })
  expect((await runner.pending()).map(({ userId }) => userId)).toEqual(['eve', 'ada'])
  damage(file, `UPDATE toolwright_pending SET body = '{"x' WHERE body LIKE '%eve%'`)
  expect((await runner.pending()).map(({ userId }) => userId)).toEqual(['ada'])
  expect(await runner.recover()).toEqual([])
  const eve = { userId: 'eve', sessionId: HOME.sessionId }
  await expect(runner.pending(eve)).rejects.toMatchObject({
    code: 'STORAGE',
    message: expect.stringContaining('Resume the session'),
  })
  for await (const _ of runner.resume(eve));
  expect((await runner.pending(eve)).map(({ userId }) => userId)).toEqual(['eve'])
  expect((await runner.pending()).map(({ userId }) => userId)).toEqual(['ada', 'eve'])
})

test('a damaged inbox item is skipped and the session continues', async () => {
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

const UNSOUND_EVENTS: [string, (event: JsonObject) => unknown][] = [
  ['an empty object', () => ({})],
  ['an event inside an object', (event) => ({ event })],
  ['a list', (event) => [event]],
  ['an event without invocationId', ({ invocationId: _, ...event }) => event],
  ['an event with a number for its author', (event) => ({ ...event, author: 7 })],
  ['an event with another id', (event) => ({ ...event, id: 'other' })],
  ['an event without actions', ({ actions: _, ...event }) => event],
  ['an event with a list for its stateDelta', (event) => ({ ...event, actions: { stateDelta: [] } })],
  ['an event with a text for its timestamp', (event) => ({ ...event, timestamp: 'now' })],
  ['an event with a number for its path', (event) => ({ ...event, nodeInfo: { path: 7 } })],
  ['an event without parts', (event) => ({ ...event, content: { role: 'model' } })],
  ['an event with a part that is null', (event) => ({ ...event, content: { role: 'model', parts: [null] } })],
  [
    'an event with a call with a number for its name',
    (event) => ({ ...event, content: content({ functionCall: { id: 'c1', name: 7 } }) }),
  ],
  [
    'an event with a number for a call id',
    (event) => ({ ...event, content: content({ functionCall: { id: 7, name: 'pay' } }) }),
  ],
  [
    'an event with a response without a value',
    (event) => ({ ...event, content: content({ functionResponse: { id: 'c1', name: 'pay' } }) }),
  ],
  ['an event with a text for its longRunningToolIds', (event) => ({ ...event, longRunningToolIds: 'c1' })],
]

function content(part: object): object {
  return { role: 'tool', parts: [part] }
}

test.each(UNSOUND_EVENTS)('%s in place of an event causes the same error in every method', async (_what, spoil) => {
  const file = temporaryFile()
  using services = sqlite(file)
  const run = vi.fn(() => ({ paid: true }))
  const { pending } = await paying(services, [call], run, true).complete({ ...HOME, message: 'go' })
  change(file, 2, spoil)
  using again = sqlite(file)
  const runner = paying(again, ['done', 'done'], run, true)
  const message = [approve(pending[0] as PendingRequest)]
  const uses: (() => Promise<unknown>)[] = [
    () => runner.complete({ ...HOME, message }),
    () => runner.complete({ ...HOME, message: 'more' }),
    () => runner.cancel(HOME),
    () => again.sessionService.getSession(HOME),
  ]
  const damaged = { code: 'STORAGE', message: expect.stringMatching(/^Entry 2 of session "s1" is damaged .*Restore/) }
  for (const use of uses) for (const _time of [1, 2]) await expect(use()).rejects.toMatchObject(damaged)
  for (const _time of [1, 2]) expect(await resumed(runner)).toBe('STORAGE')
  expect(run).not.toHaveBeenCalled()
})

test('unknown members of a stored event are ignored', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  const run = vi.fn(() => ({ paid: true }))
  const { pending } = await paying(services, [call], run, true).complete({ ...HOME, message: 'go' })
  change(file, 2, (event) => ({ ...event, branch: null, errorCode: undefined, newField: { of: ['a later version'] } }))
  using again = sqlite(file)
  const message = [approve(pending[0] as PendingRequest)]
  expect((await paying(again, ['done'], run, true).complete({ ...HOME, message })).text).toBe('done')
  expect(run).toHaveBeenCalledOnce()
})

test.each([
  ['the number of entries is too low', 'UPDATE toolwright_sessions SET seq = 2'],
  ['the number of entries is too high', 'UPDATE toolwright_sessions SET seq = 99'],
  ['the number of entries is negative', 'UPDATE toolwright_sessions SET seq = -1'],
  ['an entry is missing', 'DELETE FROM toolwright_entries WHERE seq = 2'],
  ['an entry has another number', 'UPDATE toolwright_entries SET seq = 77 WHERE seq = 2'],
  ['a number is too large', 'UPDATE toolwright_entries SET seq = 4611686018427387904 WHERE seq = 2'],
])('a session that is damaged because %s fails with the same error every time', async (_what, sql) => {
  const file = temporaryFile()
  using services = sqlite(file)
  const run = vi.fn(() => ({ paid: true }))
  const { pending } = await paying(services, [call], run, true).complete({ ...HOME, message: 'go' })
  damage(file, sql)
  using again = sqlite(file)
  const runner = paying(again, ['done'], run, true)
  const failures: unknown[] = []
  for (const _time of [1, 2]) {
    const answered = runner.complete({ ...HOME, message: [approve(pending[0] as PendingRequest)] })
    failures.push(await answered.catch((error) => error))
  }
  expect(failures[0]).toMatchObject({ code: 'STORAGE', message: expect.stringMatching(/Restore .* from a backup/) })
  expect(failures[1]).toEqual(failures[0])
  expect(run).not.toHaveBeenCalled()
})

test.each([
  ['drops entries', 'BEFORE INSERT ON toolwright_entries BEGIN SELECT raise(IGNORE); END', 'STORAGE'],
  ['only reads entries', 'BEFORE INSERT ON toolwright_entries BEGIN SELECT 1; END', undefined],
])('with a trigger that %s a tool body runs only if its intent is stored', async (_what, trigger, code) => {
  const file = temporaryFile()
  using services = sqlite(file)
  damage(file, `CREATE TRIGGER other ${trigger}`)
  const run = vi.fn()
  const runner = paying(services, [call, 'Paid.'], run)
  const failure = await runner.complete({ ...HOME, message: 'Pay' }).then(
    () => undefined,
    (error) => error,
  )
  expect(failure?.code).toBe(code)
  expect(run).toHaveBeenCalledTimes(code ? 0 : 1)
})

test('an event that is appended to SQLite again is stored once', async () => {
  using services = sqlite(temporaryFile())
  await services.sessionService.createSession(HOME)
  await write(services.sessionService, HOME, entryOf('e1'))
  await write(services.sessionService, HOME, entryOf('e1'), entryOf('e2'))
  const { events } = (await services.sessionService.getSession(HOME)) ?? {}
  expect(events?.map(({ id }) => id)).toEqual(['e1', 'e2'])
})

/** Overwrites an event. */
function change(file: string, seq: number, spoil: (event: JsonObject) => unknown): void {
  const other = new DatabaseSync(file)
  const { body } = other.prepare('SELECT body FROM toolwright_entries WHERE seq = ?').get(seq) as { body: string }
  const spoiled = JSON.stringify(spoil(JSON.parse(body)))
  other.prepare('UPDATE toolwright_entries SET body = ? WHERE seq = ?').run(spoiled, seq)
  other.close()
}

/** The events of a resumed run as JSON, or its error code. */
async function resumed(runner: Runner): Promise<string> {
  const told: unknown[] = []
  try {
    for await (const event of runner.resume(HOME)) told.push(event)
  } catch (error) {
    return (error as { code: string }).code
  }
  return JSON.stringify(told)
}
