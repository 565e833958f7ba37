import type { SessionKey, SessionService } from '../../../services/session/service.ts'
import { codeOf, deepEqual, equal, ok, rejectsWith } from './assert.ts'
import { HOSTILE_IDS, SPLIT_PAIRS } from './hostile-ids.ts'
import type { ServiceTest } from './service-test.ts'
import { entryOf, eventIds, HOME, stateOf, write } from './session-fixtures.ts'

/** Tests of isolation: users and apps cannot reach each other's sessions, whatever the ids. */
export function isolationTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('two users with the same session id have separate sessions', async (service) => {
    await checkSeparation(service, [HOME, { ...HOME, userId: 'bob' }])
  })

  serviceTest('two apps with the same user and session id have separate sessions', async (service) => {
    await checkSeparation(service, [HOME, { ...HOME, appName: 'bank' }])
  })

  serviceTest('another user or app can neither claim, list nor delete a session', async (service) => {
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

  serviceTest('hostile session ids are stored separately or rejected with INVALID_REQUEST', async (service) => {
    await checkSeparation(
      service,
      await accepted(
        service,
        HOSTILE_IDS.map((sessionId) => ({ ...HOME, sessionId })),
      ),
    )
  })

  serviceTest('hostile user ids are stored separately or rejected with INVALID_REQUEST', async (service) => {
    await checkSeparation(
      service,
      await accepted(
        service,
        HOSTILE_IDS.map((userId) => ({ ...HOME, userId })),
      ),
    )
  })

  serviceTest('hostile app names are stored separately or rejected with INVALID_REQUEST', async (service) => {
    await checkSeparation(
      service,
      await accepted(
        service,
        HOSTILE_IDS.map((appName) => ({ ...HOME, appName })),
      ),
    )
  })

  serviceTest('ids that collide when joined are stored separately', async (service) => {
    const keys = SPLIT_PAIRS.flatMap(([left, right]) => [
      { appName: left, userId: right, sessionId: 's' },
      { appName: 'x', userId: left, sessionId: right },
    ])
    await checkSeparation(service, await accepted(service, keys))
  })

  serviceTest('ids of more than 2,600 bytes together are rejected, and ids of as many are stored', async (service) => {
    const wide = '\u4e00'.repeat(1_000) // 3 bytes each
    const controls = '\u0001'.repeat(500) // 6 bytes each, as an escape
    for (const sessionId of [wide, controls]) {
      await rejectsWith(service.createSession({ appName: 'shop', userId: 'ada', sessionId }), 'INVALID_REQUEST')
    }
    const key = { appName: 'a'.repeat(800), userId: 'u'.repeat(800), sessionId: 's'.repeat(1_000) }
    await service.createSession(key)
    await service.createSession({ ...key, appName: 'shop', sessionId: '\u4e00'.repeat(500) })
    ok((await service.getSession(key)) !== undefined, 'ids of 2,600 bytes are valid')
    await rejectsWith(service.createSession({ ...key, userId: 'u'.repeat(801) }), 'INVALID_REQUEST')
    const lease = await service.claim(key)
    await rejectsWith(service.append(lease, 0, [entryOf(wide)]), 'INVALID_REQUEST')
    await rejectsWith(service.post(key, { id: wide, type: 'cancel' }), 'INVALID_REQUEST')
    equal(await service.append(lease, 0, [entryOf('e'.repeat(2_600))]), 1)
  })

  serviceTest('an unknown session named like a prototype member does not exist', async (service) => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      equal(await service.getSession({ appName: name, userId: name, sessionId: name }), undefined)
      await service.createSession({ appName: 'shop', userId: `owner of ${name}` })
      equal(await service.getSession({ appName: 'shop', userId: `owner of ${name}`, sessionId: name }), undefined)
      deepEqual(await service.listSessions({ appName: 'shop', userId: name }), [])
    }
  })
}

/** Returns the keys that the store accepts. A store may reject ids with INVALID_REQUEST. */
async function accepted(service: SessionService, keys: readonly SessionKey[]): Promise<SessionKey[]> {
  const acceptedKeys: SessionKey[] = []
  for (const key of keys) {
    try {
      await service.createSession(key)
      await service.deleteSession(key)
      acceptedKeys.push(key)
    } catch (error) {
      if (codeOf(error) !== 'INVALID_REQUEST') throw error
    }
  }
  ok(acceptedKeys.length > keys.length / 2, 'the service must accept most hostile ids')
  return acceptedKeys
}

/** Writes events, state and an inbox item to each session, then checks that each has exactly its own. */
async function checkSeparation(service: SessionService, keys: readonly SessionKey[]): Promise<void> {
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
    const posted = (await service.inbox(lease)).map(({ id }) => id)
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
