import { DatabaseSync } from 'node:sqlite'
import { sqlite } from 'toolwright/sqlite'
import { expect, test } from 'vitest'
import { temporaryFile } from './temporary-file.test-kit.ts'

const MANY = 100_000

/** Stores sessions, each with two entries and a pending request: what 100,000 paused conversations leave. */
function fill(file: string): void {
  const database = new DatabaseSync(file)
  database.exec(`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MANY})
    INSERT INTO toolwright_sessions (id, app, user, session, seq, epoch, expires_at, updated_at)
      SELECT n, 'shop', 'user-' || (n % 5000), 'session-' || n, 2, 0, 0, 0 FROM numbers;
    INSERT INTO toolwright_entries (session, seq, body) SELECT id, 1, '{}' FROM toolwright_sessions;
    INSERT INTO toolwright_entries (session, seq, body) SELECT id, 2, printf('%.400c', 'x') FROM toolwright_sessions;
    INSERT INTO toolwright_pending (session, since, body) SELECT id, 0, printf('%.400c', 'x') FROM toolwright_sessions;
    INSERT INTO toolwright_inbox (session, item_id, body) SELECT id, 'i1', '{}' FROM toolwright_sessions WHERE id % 100 = 0;
    UPDATE toolwright_sessions SET set_aside = 'crashes' WHERE id % 1000 = 1;
    UPDATE toolwright_sessions SET epoch = 7 WHERE id % 1000 = 2;
  `)
  database.close()
}

test('counts 100,000 paused sessions within 100 ms', async () => {
  const file = temporaryFile()
  sqlite(file).close()
  fill(file)
  using services = sqlite(file)
  let fastest = Number.POSITIVE_INFINITY
  // the best of some: other tests share the machine
  for (let tries = 0; tries < 10 && fastest >= 100; tries++) {
    const start = performance.now()
    expect(await services.sessionService.countSessions?.({ appName: 'shop' })).toEqual({
      running: 0,
      interrupted: 100,
      setAside: 100,
      posted: 1_000,
      waiting: 98_800,
      idle: 0,
    })
    fastest = Math.min(fastest, performance.now() - start)
  }
  expect(fastest).toBeLessThan(100)
}, 60_000)

test('sessions with a holder are found by an index, not by reading all sessions', () => {
  const file = temporaryFile()
  sqlite(file).close()
  const database = new DatabaseSync(file)
  const plan = database.prepare(
    'EXPLAIN QUERY PLAN SELECT * FROM toolwright_sessions WHERE app = ? AND epoch <> 0 ORDER BY id',
  )
  expect(JSON.stringify(plan.all('shop'))).toContain('toolwright_sessions_held')
  database.close()
})
