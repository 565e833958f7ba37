import { basename, extname } from 'node:path'
import { InMemoryArtifactService } from '../../artifact/in-memory.ts'
import { InMemoryCredentialService } from '../../credential/in-memory.ts'
import type { Logger } from '../../dispatch/host.ts'
import { InMemoryMemoryService } from '../../memory/in-memory.ts'
import { Runner } from '../../runner/runner.ts'
import { modelsFor } from '../models.ts'
import { UsageError } from '../terminal.ts'
import type { AgentFile } from './agent-file.ts'
import { MEMORY, openDatabaseFolder } from './app-database.ts'

/** The app of a file and its store. */
export interface AppStorage {
  /** The agent file. */
  readonly file: string
  /** The name of the app. Default: the name of the file. */
  readonly app?: string | undefined
  /** The SQLite file. Default: in memory. */
  readonly db?: string | undefined
}

/** A runner, and its store. */
export interface OpenedRunner {
  /** Runs the agent of the file. */
  readonly runner: Runner
  /** Closes the store. Close the runner first. */
  close(): void
}

/** Returns the runner that the file exports, or creates one for its agent. */
export async function createRunner(
  { root }: AgentFile,
  { file, app, db }: AppStorage,
  logger: Logger,
): Promise<OpenedRunner> {
  if (root instanceof Runner) {
    checkOwnStore(file, db)
    return { runner: root, close: () => {} }
  }
  const models = await modelsFor(root)
  const stored = db === undefined ? undefined : (await import('../../sqlite/sqlite.ts')).sqlite(db, { logger })
  const runner = new Runner({
    appName: app ?? appNameOf(file),
    agent: root,
    artifactService: new InMemoryArtifactService(),
    memoryService: new InMemoryMemoryService(),
    credentialService: new InMemoryCredentialService(),
    ...stored,
    models,
    logger,
  })
  return { runner, close: () => stored?.close() }
}

/** The app with the database that `web`, `run` and `serve` share. A runner that the file exports has its own. */
export function databaseFor({ root }: AgentFile, { file, app, db }: AppStorage, folder: string): AppStorage {
  if (root instanceof Runner) return { file, app, db }
  return { file, app, db: openDatabaseFolder(db, folder, app ?? appNameOf(file)) }
}

/** Throws if `--db` or `--memory` is given for a file that exports a runner. */
export function checkOwnStore(file: string, db: string | undefined): void {
  if (db === undefined) return
  const option = db === MEMORY ? '--memory' : '--db'
  throw new UsageError(
    `${option} cannot be used with "${file}": the file exports a Runner, which has its own services. Remove ${option}.`,
  )
}

/** The name of an app without `--app`: the file name without its ending. */
export function appNameOf(file: string): string {
  return basename(file, extname(file))
}
