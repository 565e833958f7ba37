import { basename, join } from 'node:path'
import type { CrashWorld } from './crash-world.ts'

/** A store that victims use. */
export interface CrashStore {
  /** Completes a title: "kill -9 on SQLite". */
  readonly name: string
  /** What `openStore()` takes, for sessions of these apps. */
  open(world: CrashWorld, apps: string): string
}

/** SQLite, with a file for each call. */
export const sqliteFiles: CrashStore = { name: 'SQLite', open: ({ folder }, apps) => join(folder, `${apps}.db`) }

/** A schema of its own for each world, on a Postgres server. */
export function postgresSchemas(url: string): CrashStore {
  return {
    name: 'Postgres',
    open({ folder }) {
      const store = new URL(url)
      store.searchParams.set('schema', basename(folder))
      return store.href
    },
  }
}
