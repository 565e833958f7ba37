import { Pool } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { SessionKey, SessionService } from '../../services/session/service.ts'
import { newSchema, runSql, serverUrl } from './database.test-kit.ts'
import { transactionPooler } from './pooler.test-kit.ts'
import { postgres } from './postgres.ts'
import type { PostgresOptions } from './postgres-options.ts'

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' }

interface Watched {
  /** The service that watches. */
  readonly service: SessionService
  /** The reported sessions. */
  readonly heard: SessionKey[]
  readonly warnings: string[]
  stop(): void
}

function open(source: Parameters<typeof postgres>[0], options: PostgresOptions): SessionService {
  const services = postgres(source, options)
  onTestFinished(() => services.close())
  return services.sessionService
}

/** Opens two stores on one schema: one watches, the other one is another process. */
async function openTwo(
  options: { readonly source?: Parameters<typeof postgres>[0] } & PostgresOptions = {},
): Promise<{ watched: Watched; other: SessionService; schema: string }> {
  const { source = serverUrl(), ...rest } = options
  const schema = newSchema()
  const other = open(serverUrl(), { schema })
  await other.createSession(key)
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error: () => {} }
  const service = open(source, { schema, logger, ...rest })
  const heard: SessionKey[] = []
  const stop = service.watch?.((one) => void heard.push(one)) ?? (() => {})
  onTestFinished(stop)
  return { watched: { service, heard, warnings, stop }, other, schema }
}

/** Posts until the watcher reports it: it may not have connected yet. */
async function postUntilHeard({ heard }: Watched, other: SessionService): Promise<void> {
  let count = 0
  const before = heard.length
  await expect
    .poll(
      async () => {
        await other.post(key, { id: `post ${before} ${count++}`, type: 'cancel' })
        return heard.length > before
      },
      { interval: 50 },
    )
    .toBe(true)
}

const listeners = (schema: string): Promise<unknown> =>
  runSql(
    `SELECT count(*) AS n FROM pg_stat_activity WHERE query LIKE '%toolwright_%' AND application_name = 'toolwright listen' AND '${schema}' <> ''`,
  )

test('watch() reports an item that another process posts, and a session that is released with items', async () => {
  const { watched, other } = await openTwo()
  await postUntilHeard(watched, other)
  expect(watched.heard.at(-1)).toEqual(key)
  const lease = await other.claim(key)
  const before = watched.heard.length
  await other.release(lease)
  await expect.poll(() => watched.heard.length).toBeGreaterThan(before)
  expect(watched.warnings).toEqual([])
  expect(await listeners('any')).not.toEqual([])
})

test('watch() reports a session that another process releases as interrupted', async () => {
  const { watched, other } = await openTwo()
  await postUntilHeard(watched, other)
  const free = { ...key, sessionId: 'interrupted' }
  await other.createSession(free)
  await other.release(await other.claim(free), { interrupted: true })
  await expect.poll(() => watched.heard).toContainEqual(free)
})

test('the longest ids, and hostile ones, arrive too', async () => {
  const { watched, other } = await openTwo()
  await postUntilHeard(watched, other)
  for (const sessionId of ["'; DROP TABLE x --", '\0 \ud800 é', '界'.repeat(1000)]) {
    const hostile = {
      appName: sessionId.length > 100 ? '界'.repeat(280) : 'shop',
      userId: sessionId.slice(0, 280),
      sessionId: sessionId.slice(0, 280),
    }
    await other.createSession(hostile)
    await other.post(hostile, { id: 'one', type: 'cancel' })
    await expect.poll(() => watched.heard).toContainEqual(hostile)
  }
})

test('watch() connects again after its connection is lost, and reports what it has missed', async () => {
  const { watched, other } = await openTwo()
  await postUntilHeard(watched, other)
  const missed = { ...key, sessionId: 'missed' }
  await other.createSession(missed)
  await runSql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'toolwright listen'")
  await other.post(missed, { id: 'one', type: 'cancel' })
  await expect.poll(() => watched.heard).toContainEqual(missed)
  await postUntilHeard(watched, other)
})

test.each([1, 3])(
  'behind a pooler with %i connections, changes are found each second, and the log says so once',
  async (size) => {
    const url = await transactionPooler(serverUrl(), size)
    const { watched, other } = await openTwo({ source: url })
    await postUntilHeard(watched, other)
    await postUntilHeard(watched, other)
    await expect.poll(() => watched.warnings).toEqual([expect.stringContaining('Set listen of postgres()')])
  },
)

test('listen leads to the server itself behind a pooler', async () => {
  const url = await transactionPooler(serverUrl(), 2)
  const { watched, other } = await openTwo({ source: url, listen: serverUrl() })
  await postUntilHeard(watched, other)
  expect(watched.warnings).toEqual([])
})

test('without LISTEN, changes are found each second', async () => {
  const { watched, other } = await openTwo({ listen: false })
  await postUntilHeard(watched, other)
  expect(watched.warnings).toEqual([])
})

test('a pool of the user tells where to listen', async () => {
  const pool = new Pool({ connectionString: serverUrl(), max: 2 })
  const { watched, other } = await openTwo({ source: pool })
  await postUntilHeard(watched, other)
  watched.stop()
  const before = watched.heard.length
  await other.post(key, { id: 'after', type: 'cancel' })
  expect(watched.heard.length).toBe(before)
  await pool.end()
})

test('watch() reports changes of its own process', async () => {
  const { watched } = await openTwo({ listen: false })
  await watched.service.post(key, { id: 'own', type: 'cancel' })
  await expect.poll(() => watched.heard).toContainEqual(key)
})
