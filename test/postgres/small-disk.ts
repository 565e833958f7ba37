// A disk of some megabytes for the tables of a Postgres server, which a test can fill.
import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { PostgresServer } from './server.ts'

/** A disk, or why there is none. */
export type SmallDisk = AsyncDisposable & (MountedDisk | { readonly url: undefined; readonly reason: string })

interface MountedDisk {
  /** The URL of a database whose new tables are on the disk. */
  readonly url: string
  /** Leaves no room on the disk. */
  fill(): void
  /** Makes room again. */
  empty(): void
}

const SIZE_MB = 48

/** Mounts a disk in the folder of a server, and makes it the place of new tables. Needs root on Linux. */
export async function smallDisk(server: PostgresServer): Promise<SmallDisk> {
  const folder = join(server.folder, 'small-disk')
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MB}m`, 'tmpfs', folder], { stdio: 'pipe' })
  } catch (error) {
    return {
      url: undefined,
      reason: `no file system can be mounted: ${String(error).split('\n')[0]}`,
      [Symbol.asyncDispose]: async () => {},
    }
  }
  const { uid, gid } = statSync(join(server.folder, 'data'))
  const [tables, ballast] = [join(folder, 'tables'), join(folder, 'ballast')]
  mkdirSync(tables)
  chownSync(tables, uid, gid)
  const run = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    try {
      await client.query(sql)
    } finally {
      await client.end()
    }
  }
  await run(`CREATE TABLESPACE small LOCATION '${tables}'`)
  await run('CREATE DATABASE small TABLESPACE small')
  const url = new URL(server.url)
  url.pathname = '/small'
  return {
    url: url.href,
    fill: () => fillWith(ballast),
    empty: () => rmSync(ballast),
    async [Symbol.asyncDispose]() {
      await run('DROP DATABASE small WITH (FORCE)')
      await run('DROP TABLESPACE small')
      execFileSync('umount', [folder], { stdio: 'pipe' })
    },
  }
}

/** Appends until there is no room. */
function fillWith(file: string): void {
  for (const bytes of [1 << 20, 1 << 12]) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(bytes), { flag: 'a' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}
