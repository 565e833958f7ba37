import type { TestProject } from 'vitest/node'
import { type PostgresServer, startServer } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of a Postgres server with an empty database, for `inject('postgresUrl')`. */
    postgresUrl: string
  }
}

/** The server of this run, shared by its projects. Each project loads this file by itself, so that it is kept in the process. */
interface SharedServer {
  server: Promise<PostgresServer> | undefined
  users: number
}

const shared = sharedServer(globalThis as { [key: symbol]: unknown })

function sharedServer(holder: { [key: symbol]: unknown }): SharedServer {
  const key = Symbol.for('toolwright.postgres-server')
  holder[key] ??= { server: undefined, users: 0 } satisfies SharedServer
  return holder[key] as SharedServer
}

/** Starts one Postgres server for the projects whose tests need it. Vitest calls this only if one of them runs. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.users++
  shared.server ??= startServer()
  const server = await shared.server
  project.provide('postgresUrl', server.url)
  return async () => {
    if (--shared.users > 0) return
    shared.server = undefined
    await server.close()
  }
}
