// What the holder of a session sees of its state on a database that answers later, and what that costs.
import { expect, onTestFinished, test } from 'vitest'
import { entryOf, HOME, intentOf, write } from '../../adapters/testing/suites/session-fixtures.ts'
import { delayedDatabase } from '../../apps/sqlite/delayed-database.test-kit.ts'
import type { Lease, StateReader } from '../session/service.ts'
import type { SqlSessionService } from './session-service.ts'

const SIBLING = { ...HOME, sessionId: 's2' }

/** Two processes with a session each, of one user. The first one holds `HOME`. */
async function twoProcesses() {
  const { process, close } = delayedDatabase()
  onTestFinished(close)
  const [here, there] = [process(), process()]
  await here.sessionService.createSession({ ...HOME, state: { color: 'red', 'user:name': 'Ada' } })
  await here.sessionService.createSession(SIBLING)
  const lease = await here.sessionService.claim(HOME)
  const { state } = await here.sessionService.read(lease)
  return { here, there, lease, state }
}

const valuesOf = (state: StateReader): unknown =>
  Object.fromEntries([...state.keys()].map((key) => [key, state.get(key)]))

test('a holder sees its own appends at once, and values that its process writes for other sessions of the user', async () => {
  const { here, lease, state } = await twoProcesses()
  expect(valuesOf(state)).toEqual({ color: 'red', 'user:name': 'Ada' })
  const { sessionService } = here
  await sessionService.append(lease, 0, [entryOf('e1', { color: 'blue', size: 1 }), entryOf('e2', { size: null })])
  expect(valuesOf(state)).toEqual({ color: 'blue', 'user:name': 'Ada' })
  await write(sessionService, SIBLING, entryOf('f1', { color: 'green', 'user:name': 'Eve', 'app:news': [1] }))
  expect(valuesOf(state)).toEqual({ 'app:news': [1], 'user:name': 'Eve', color: 'blue' })
  expect([...state.keys()]).toEqual(['app:news', 'user:name', 'color'])
})

const READS: [string, (service: SqlSessionService, lease: Lease) => Promise<unknown>][] = [
  ['an append', (service, lease) => service.append(lease, 0, [entryOf('e1')])],
  ['an append of state', (service, lease) => service.append(lease, 0, [entryOf('e1', { 'user:own': 1 })])],
  ['a look into its inbox', (service, lease) => service.inbox(lease)],
  ['a renewal of its lease', (service, lease) => service.renew(lease)],
]

test.each(READS)('a holder sees shared values of another process after %s', async (_what, read) => {
  const { here, there, lease, state } = await twoProcesses()
  await write(there.sessionService, SIBLING, entryOf('f1', { 'user:name': 'Eve', 'app:news': 1 }))
  await write(there.sessionService, SIBLING, entryOf('f2', { 'user:name': null, 'app:news': 2 }))
  await read(here.sessionService, lease)
  expect([state.get('user:name'), state.get('app:news'), state.get('color')]).toEqual([undefined, 2, 'red'])
})

test('a holder whose append was stored before its acknowledgement was lost sees the state of the append', async () => {
  const { here, there, lease, state } = await twoProcesses()
  const delta = { color: 'blue', 'user:name': 'Eve' }
  await there.sessionService.append(lease, 0, [entryOf('e1', delta)]) // as if this process had sent it
  expect(state.get('color')).toBe('red')
  expect(await here.sessionService.append(lease, 0, [entryOf('e1', delta)])).toBe(1)
  expect(valuesOf(state)).toEqual({ 'user:name': 'Eve', color: 'blue' })
})

test('a change that is rolled back is not shown to the holder', async () => {
  const { here, lease, state } = await twoProcesses()
  const stale = here.sessionService.append(lease, 7, [entryOf('e1', { color: 'blue', 'user:name': 'Eve' })])
  await expect(stale).rejects.toMatchObject({ code: 'STALE_APPEND' })
  expect(valuesOf(state)).toEqual({ color: 'red', 'user:name': 'Ada' })
})

test('a user who is deleted by another process and created again has no old state, also not in a process with a copy', async () => {
  const { here, there, lease, state } = await twoProcesses()
  await here.sessionService.append(lease, 0, [entryOf('e1', { 'user:name': 'Eve' })])
  expect(state.get('user:name')).toBe('Eve')
  await there.sessionService.deleteUser(HOME)
  await here.sessionService.createSession(HOME)
  const next = await here.sessionService.claim(HOME)
  const { state: recreated } = await here.sessionService.read(next)
  expect(valuesOf(recreated)).toEqual({})
  await there.sessionService.createSession(SIBLING)
  await write(there.sessionService, SIBLING, entryOf('f1', { 'user:name': 'Bob' }))
  await here.sessionService.renew(next)
  expect([recreated.get('user:name'), state.get('user:name')]).toEqual(['Bob', 'Bob'])
})

test('a process that deletes a user shows none of the old state to new sessions of the user', async () => {
  const { here, there, state } = await twoProcesses()
  await here.sessionService.deleteUser(HOME)
  expect(state.get('user:name')).toBeUndefined()
  await there.sessionService.createSession({ ...HOME, state: { 'user:name': 'Bob' } })
  const { state: recreated } = await here.sessionService.read(await here.sessionService.claim(HOME))
  expect(valuesOf(recreated)).toEqual({ 'user:name': 'Bob' })
})

test('the usual steps of a run take few statements, each a round trip to a server', async () => {
  const { here, lease } = await twoProcesses()
  const { database, sessionService } = here
  const count = async (step: () => Promise<unknown>): Promise<number> => {
    const before = database.statements.length
    await step()
    return database.statements.length - before
  }
  expect(await count(() => sessionService.append(lease, 0, [entryOf('e1')]))).toBe(2)
  const batch = [entryOf('e2'), intentOf('c1'), entryOf('e3')]
  expect(await count(() => sessionService.append(lease, 1, batch)), 'three entries').toBe(2)
  expect(await count(() => sessionService.append(lease, 4, [entryOf('e4', { a: 1, b: 2 })])), 'with state').toBe(3)
  const shared = [entryOf('e5', { 'user:name': 'Eve' })]
  expect(await count(() => sessionService.append(lease, 5, shared)), 'with state of the user').toBe(4)
  expect(await count(() => sessionService.inbox(lease)), 'inbox').toBe(2)
  expect(await count(() => sessionService.renew(lease)), 'renew').toBe(1)
  expect(await count(() => sessionService.release(lease)), 'release').toBe(1)
  expect(await count(() => sessionService.claim(HOME)), 'claim, with the counter of epochs of SQLite').toBe(3)
})
