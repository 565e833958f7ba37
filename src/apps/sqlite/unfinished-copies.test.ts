// Unfinished copies of sessions in a file that a process of an earlier version has open.
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { entryOf, eventIds, HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import { openVersion1 } from './schema-version-1.test-kit.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

test('a process of an earlier version does not find an unfinished copy in the SQLite file', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  const lease = await services.sessionService.createCopy?.(HOME)
  if (!lease) throw new Error('no lease')
  await services.sessionService.append(lease, 0, [entryOf('e1')])
  const earlier = new DatabaseSync(file)
  const held = earlier.prepare("SELECT session FROM toolwright_sessions WHERE app = 'shop' AND epoch <> 0")
  expect(held.all()).toEqual([])
  await services.sessionService.append(lease, 1, [], { completesCopy: true })
  expect(held.all()).toMatchObject([{ session: 's1' }])
  earlier.close()
})

test('a copy is not completed over a session that a process of an earlier version has created', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  const { sessionService } = services
  const lease = await sessionService.createCopy?.(HOME)
  if (!lease) throw new Error('no lease')
  const earlier = openVersion1(file)
  earlier.createHeld('s1', 0)
  const completing = sessionService.append(lease, 0, [entryOf('e1')], { completesCopy: true })
  await expect(completing).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
  await sessionService.release(lease)
  expect(await eventIds(sessionService, HOME)).toEqual([])
  earlier.close()
})
