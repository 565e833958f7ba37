// Counts the commits of a turn: each one waits for the disk, so they are what a turn costs on a database.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool, type PoolClient } from 'pg'
import { LlmAgent, Runner, type SessionService, tool } from 'toolwright'
import { type PostgresPool, postgres } from 'toolwright/postgres'
import { sqlite } from 'toolwright/sqlite'
import { scriptedModel } from 'toolwright/testing'
import { expect, inject, onTestFinished, test } from 'vitest'

interface CountedStore {
  readonly sessionService: SessionService
  /** How often the store has committed until now. */
  commits(): number
}

/** A SQLite file, whose commits are read from its log of changes. */
function openSqlite(): CountedStore {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-commits-'))
  const path = join(folder, 'app.db')
  const services = sqlite(path)
  onTestFinished(() => {
    services.close()
    rmSync(folder, { recursive: true })
  })
  return { sessionService: services.sessionService, commits: () => commitFrames(readFileSync(`${path}-wal`)) }
}

/** The frames of a write-ahead log that end a transaction: they name the size of the database after it. */
function commitFrames(log: Buffer): number {
  const [pageSize, salt] = [log.readUInt32BE(8), log.subarray(16, 24)]
  let commits = 0
  for (let at = 32; at + 24 + pageSize <= log.length; at += 24 + pageSize) {
    if (log.subarray(at + 8, at + 16).equals(salt) && log.readUInt32BE(at + 4) > 0) commits++
  }
  return commits
}

/** A Postgres database, whose commits are counted on their way to it. */
function openPostgres(): CountedStore {
  let commits = 0
  const pool = new Pool({ connectionString: inject('postgresUrl') })
  const schema = 'turn_commits'
  const known = new Map<PoolClient, object>()
  /** The connection, without the part that sends statements together, so that each of them can be read. */
  const counted = (client: PoolClient): object => {
    let writes = false
    const query = async (sent: { readonly text: string }): Promise<unknown> => {
      if (sent.text.startsWith('BEGIN')) writes = sent.text.endsWith('READ WRITE')
      if (sent.text === 'COMMIT' && writes) commits++
      return await client.query(sent)
    }
    return {
      query,
      release: (error?: boolean) => client.release(error),
      on: (name: 'error', listener: () => void) => client.on(name, listener),
    }
  }
  const countedPool = {
    connect: async () => {
      const client = await pool.connect()
      const same = known.get(client) ?? counted(client)
      known.set(client, same)
      return same
    },
    on: (name: 'error', listener: () => void) => pool.on(name, listener),
    removeListener: (name: 'error', listener: () => void) => pool.removeListener(name, listener),
  } as unknown as PostgresPool // the parts of a pool that are used
  const services = postgres(countedPool, { schema, listen: false })
  onTestFinished(async () => {
    await services.close()
    await pool.query(`DROP SCHEMA ${schema} CASCADE`)
    await pool.end()
  })
  return { sessionService: services.sessionService, commits: () => commits }
}

const stores = [
  { name: 'on SQLite', open: openSqlite },
  { name: 'on Postgres', open: openPostgres },
]
const limits = [
  { effect: 'none', most: 4 },
  { effect: 'idempotent', most: 5 },
  { effect: 'atMostOnce', most: 5 },
] as const

for (const { name, open } of stores) {
  test.each(limits)(
    `a turn with one call of effect "$effect" commits $most times, besides claim and release, ${name}`,
    async ({ effect, most }) => {
      const { sessionService, commits } = open()
      const look = tool({ name: 'look', description: 'Looks', effect, run: () => ({ seen: true }) })
      const calls = [{ name: 'look' }]
      const model = scriptedModel([{ calls }, 'Seen.', { calls }, 'Seen again.'])
      const runner = new Runner({
        appName: 'shop',
        agent: new LlmAgent({ name: 'desk', model, tools: [look] }),
        sessionService,
      })
      const session = { userId: 'ada', sessionId: 's1' }
      const count = async (work: () => Promise<unknown>): Promise<number> => {
        const before = commits()
        await work()
        return commits() - before
      }
      await runner.complete({ ...session, message: 'Look.' }) // creates the session
      const turn = await count(() => runner.complete({ ...session, message: 'Look again.' }))
      const claimAndRelease = await count(async () => {
        const lease = await sessionService.claim({ appName: 'shop', ...session })
        await sessionService.release(lease)
      })
      expect({ claimAndRelease, turn: turn - claimAndRelease }).toEqual({ claimAndRelease: 2, turn: most })
    },
  )
}
