import type { SessionService } from '../../../services/session/service.ts'
import { deepEqual, equal, ok } from './assert.ts'
import type { ServiceTest } from './service-test.ts'
import { entryOf, eventOf, HOME, stateOf, write } from './session-fixtures.ts'

/** Tests of state: scopes, deltas and temp: keys. */
export function stateTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('state belongs to the session, with user: to the user, with app: to the app', async (service) => {
    const sibling = { ...HOME, sessionId: 's2' }
    const stranger = { ...HOME, userId: 'bob' }
    const elsewhere = { ...HOME, appName: 'bank' }
    for (const key of [HOME, sibling, stranger, elsewhere]) await service.createSession(key)
    await write(service, HOME, entryOf('e1', { color: 'red', 'user:name': 'Ada', 'app:news': 'open' }))
    deepEqual(await stateOf(service, HOME), { color: 'red', 'user:name': 'Ada', 'app:news': 'open' })
    deepEqual(await stateOf(service, sibling), { 'user:name': 'Ada', 'app:news': 'open' })
    deepEqual(await stateOf(service, stranger), { 'app:news': 'open' })
    deepEqual(await stateOf(service, elsewhere), {})
  })

  serviceTest('the initial state of a session has the same scopes', async (service) => {
    await service.createSession({ ...HOME, state: { color: 'red', 'user:name': 'Ada', 'app:news': 'open' } })
    deepEqual((await service.createSession({ ...HOME, sessionId: 's2' })).state, {
      'user:name': 'Ada',
      'app:news': 'open',
    })
    deepEqual((await service.createSession({ ...HOME, userId: 'bob' })).state, { 'app:news': 'open' })
  })

  serviceTest('temp: keys are stored neither in the state nor in the event', async (service) => {
    await service.createSession({ ...HOME, state: { 'temp:a': 1, kept: 1 } })
    const delta = { 'temp:b': 2, color: 'red' }
    const lease = await service.claim(HOME)
    await service.append(lease, 0, [entryOf('e1', delta), entryOf('e2', { 'temp:c': 3 })])
    const session = await service.getSession(HOME)
    deepEqual(session?.state, { kept: 1, color: 'red' })
    deepEqual(session?.events, [eventOf('e1', { actions: { stateDelta: { color: 'red' } } }), eventOf('e2')])
    const log = await service.read(lease)
    ok(!JSON.stringify(log.entries).includes('temp:'), 'temp: in the log')
    equal(log.state.get('temp:b'), undefined)
    deepEqual(delta, { 'temp:b': 2, color: 'red' }, 'the delta object is not changed')

    const imported = { ...HOME, sessionId: 's2' }
    await service.createSession({ ...imported, events: [entryEvent({ 'temp:d': 4 })] })
    ok(!JSON.stringify(await service.getSession(imported)).includes('temp:'), 'temp: in an imported session')
  })

  serviceTest('null in a delta deletes the key in its scope', async (service) => {
    await service.createSession({ ...HOME, state: { a: 1, b: 2, 'user:a': 1, 'app:a': 1 } })
    await write(service, HOME, entryOf('e1', { a: null, 'user:a': null, 'app:a': null, never: null }))
    deepEqual(await stateOf(service, HOME), { b: 2 })
    deepEqual((await service.createSession({ ...HOME, sessionId: 's2' })).state, {})
  })

  serviceTest('false, zero and the empty string are values', async (service) => {
    await service.createSession(HOME)
    await write(service, HOME, entryOf('e1', { no: false, zero: 0, empty: '', list: [], nested: { inner: null } }))
    deepEqual(await stateOf(service, HOME), { no: false, zero: 0, empty: '', list: [], nested: { inner: null } })
  })

  serviceTest('the last of several deltas in one append wins per key', async (service) => {
    await service.createSession(HOME)
    await write(service, HOME, entryOf('e1', { a: 1, b: 1 }), entryOf('e2', { a: 2 }), entryOf('e3', { b: null }))
    deepEqual(await stateOf(service, HOME), { a: 2 })
  })

  serviceTest('state keys named like prototype members are plain data', async (service) => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'user:__proto__', 'app:__proto__']
    const state = Object.fromEntries(names.map((name) => [name, { [name]: 'data' }]))
    await service.createSession({ ...HOME, state })
    const stored = await stateOf(service, HOME)
    deepEqual(stored, state)
    ok(stored !== undefined && Object.hasOwn(stored, '__proto__'), '__proto__ must be an own key')
    equal(({} as { data?: unknown }).data, undefined)

    const other = { ...HOME, sessionId: 's2' }
    await service.createSession(other)
    const lease = await service.claim(other)
    const log = await service.read(lease)
    for (const name of ['__proto__', 'constructor', 'toString']) equal(log.state.get(name), undefined, name)
    await service.append(lease, 0, [entryOf('e1', JSON.parse('{"__proto__": {"admin": true}}'))])
    deepEqual((await service.read(lease)).state.get('__proto__'), { admin: true })
    equal(({} as { admin?: unknown }).admin, undefined)
  })

  serviceTest('the holder reads its own state changes and those of others to shared state', async (service) => {
    const sibling = { ...HOME, sessionId: 's2' }
    await service.createSession({ ...HOME, state: { color: 'red' } })
    await service.createSession(sibling)
    const lease = await service.claim(HOME)
    await service.append(lease, 0, [entryOf('e1', { color: 'blue', 'user:name': 'Ada' })])
    await write(service, sibling, entryOf('f1', { 'user:name': 'Eve', 'app:news': 'open', own: 1 }))
    const { state } = await service.read(lease)
    equal(state.get('color'), 'blue')
    equal(state.get('user:name'), 'Eve')
    equal(state.get('app:news'), 'open')
    equal(state.get('own'), undefined)
    deepEqual([...state.keys()].sort(), ['app:news', 'color', 'user:name'])
  })

  function entryEvent(stateDelta: { [key: string]: unknown }) {
    return eventOf('e1', { actions: { stateDelta } })
  }
}
