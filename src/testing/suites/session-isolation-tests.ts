import type { SessionKey, SessionService } from '../../session/service.ts'
import { codeOf, deepEqual, equal, ok, rejectsWith } from './assert.ts'
import { entryOf, eventIds, HOME, stateOf, write } from './session-fixtures.ts'
import { HOSTILE_IDS, SPLIT_PAIRS, type ServiceTest } from './service-test.ts'

/** Nobody sees or touches what is another user's or another app's, whatever the ids are. */
export function isolationTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('two users with the same session id never see each other’s events', async (service) => {
    await staysApart(service, [HOME, { ...HOME, userId: 'bob' }])
  })

  serviceTest('two apps with the same user and session never see each other’s events', async (service) => {
    await staysApart(service, [HOME, { ...HOME, appName: 'bank' }])
  })

  serviceTest('a stranger can neither claim, list nor delete a session', async (service) => {
    await service.createSession(HOME)
    for (const stranger of [
      { ...HOME, userId: 'bob' },
      { ...HOME, appName: 'bank' },
    ]) {
      equal(await service.getSession(stranger), undefined)
      deepEqual(await service.listSessions(stranger), [])
      await rejectsWith(service.claim(stranger), 'NOT_FOUND')
      await rejectsWith(service.post(stranger, { id: 'x', type: 'cancel' }), 'NOT_FOUND')
      await service.deleteSession(stranger)
    }
    equal((await service.getSession(HOME))?.id, 's1')
  })

  serviceTest('hostile session ids are harmless data or refused', async (service) => {
    await staysApart(
      service,
      await accepted(
        service,
        HOSTILE_IDS.map((sessionId) => ({ ...HOME, sessionId })),
      ),
    )
  })

  serviceTest('hostile user ids are harmless data or refused', async (service) => {
    await staysApart(
      service,
      await accepted(
        service,
        HOSTILE_IDS.map((userId) => ({ ...HOME, userId })),
      ),
    )
  })

  serviceTest('hostile app names are harmless data or refused', async (service) => {
    await staysApart(
      service,
      await accepted(
        service,
        HOSTILE_IDS.map((appName) => ({ ...HOME, appName })),
      ),
    )
  })

  serviceTest('ids that look alike when joined are kept apart', async (service) => {
    const keys = SPLIT_PAIRS.flatMap(([left, right]) => [
      { appName: left, userId: right, sessionId: 's' },
      { appName: 'x', userId: left, sessionId: right },
    ])
    await staysApart(service, await accepted(service, keys))
  })

  serviceTest('an unknown session named like a member of a prototype is not there', async (service) => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      equal(await service.getSession({ appName: name, userId: name, sessionId: name }), undefined)
      await service.createSession({ appName: 'shop', userId: `owner of ${name}` })
      equal(await service.getSession({ appName: 'shop', userId: `owner of ${name}`, sessionId: name }), undefined)
      deepEqual(await service.listSessions({ appName: 'shop', userId: name }), [])
    }
  })
}

/** Of these keys the ones a store takes; it may refuse what it cannot keep apart, and then says so. */
async function accepted(service: SessionService, keys: readonly SessionKey[]): Promise<SessionKey[]> {
  const taken: SessionKey[] = []
  for (const key of keys) {
    try {
      await service.createSession(key)
      await service.deleteSession(key)
      taken.push(key)
    } catch (error) {
      if (codeOf(error) !== 'INVALID_REQUEST') throw error
    }
  }
  ok(taken.length > keys.length / 2, 'most hostile ids are harmless and must be taken')
  return taken
}

/** Each key's session gets its own events, state and inbox; then each has exactly its own, and goes alone. */
async function staysApart(service: SessionService, keys: readonly SessionKey[]): Promise<void> {
  for (const key of keys)
    deepEqual((await service.createSession({ ...key, state: { start: key } })).state, { start: key })
  for (const [index, key] of keys.entries()) {
    equal(await write(service, key, entryOf(`e${index}`, { mine: index })), 1)
    await service.post(key, { id: `item${index}`, type: 'cancel' })
  }
  for (const [index, key] of keys.entries()) {
    deepEqual(await eventIds(service, key), [`e${index}`])
    deepEqual(await stateOf(service, key), { start: key, mine: index })
    const lease = await service.claim(key)
    const posted = (await service.drain(lease)).map(({ id }) => id)
    deepEqual(posted, [`item${index}`])
    await service.release(lease)
    const listed = (await service.listSessions(key)).map(({ id }) => id).sort()
    deepEqual(
      listed,
      keys
        .filter((other) => isOwner(key, other))
        .map(({ sessionId }) => sessionId)
        .sort(),
    )
  }
  for (const [index, key] of keys.entries()) {
    await service.deleteSession(key)
    equal(await service.getSession(key), undefined)
    const next = keys[index + 1]
    if (next) deepEqual(await eventIds(service, next), [`e${index + 1}`])
  }
}

function isOwner(a: SessionKey, b: SessionKey): boolean {
  return a.appName === b.appName && a.userId === b.userId
}
