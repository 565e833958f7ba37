import { basename, extname } from 'node:path'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Logger } from '../../../engine/dispatch/host.ts'
import type { Model } from '../../../engine/model/model.ts'
import { modelResolver } from '../../../engine/runner/models.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import { InMemoryArtifactService } from '../../../services/artifact/in-memory.ts'
import { InMemoryCredentialService } from '../../../services/credential/in-memory.ts'
import { InMemoryMemoryService } from '../../../services/memory/in-memory.ts'
import { modelsFor } from '../models.ts'
import { UsageError } from '../terminal.ts'
import type { AgentFile } from './agent-file.ts'
import { defaultDatabase, MEMORY } from './app-database.ts'
import { modelNamesOf } from './collect-agents.ts'
import { openStore, type StoreOptions } from './open-store.ts'

/** The app of a file and its store. */
export interface AppStorage extends StoreOptions {
  /** The agent file. */
  readonly file: string
  /** The name of the app. Default: the name of the file. */
  readonly app?: string | undefined
  /** The runner runs nothing, so that models need no keys and packages. Default: false. */
  readonly withoutModels?: boolean | undefined
  /** Names of models to find beside those of the agents. Default: none. */
  readonly moreModels?: readonly string[] | undefined
}

/** A runner, and its store. */
export interface OpenedRunner {
  /** Runs the agent of the file. */
  readonly runner: Runner
  /** Closes the store. Close the runner first. */
  close(): void
}

/** Returns the runner that the file exports, or creates one for its agent. */
export async function createRunner({ root }: AgentFile, storage: AppStorage, logger: Logger): Promise<OpenedRunner> {
  const { file, app } = storage
  if (root instanceof Runner) {
    checkOwnStore(root, storage)
    return { runner: root, close: () => {} }
  }
  const create = storage.withoutModels
    ? unusedModel
    : modelResolver(await modelsFor(root, undefined, storage.moreModels))
  for (const name of modelNamesOf(root)) create(name, root.name) // a run without a key leaves no database
  const stored = await openStore(storage, logger)
  const runner = new Runner({
    appName: app ?? appNameOf(file),
    agent: root,
    artifactService: new InMemoryArtifactService(),
    memoryService: new InMemoryMemoryService(),
    credentialService: new InMemoryCredentialService(),
    ...stored,
    models: { '*': (name) => create(name, root.name) },
    logger,
  })
  return { runner, close: () => stored?.close() }
}

/** A model of a runner that runs nothing. */
function unusedModel(name: string): Model {
  const generate = (): never => {
    throw new ToolwrightError('INVALID_CONFIG', `Model "${name}" was not loaded: this command runs nothing.`)
  }
  return { name, generate }
}

/** The app with the database that `web`, `run` and `serve` share. A runner that the file exports has its own. */
export function databaseFor({ root }: AgentFile, { file, app, db }: AppStorage, folder: string): AppStorage {
  if (root instanceof Runner || db !== undefined) return { file, app, db }
  return { file, app, db: defaultDatabase(folder, app ?? appNameOf(file)), isDefault: true }
}

/** Throws if `--db`, `--memory` or another `--app` is given for a file that exports a runner. */
export function checkOwnStore({ appName }: Pick<Runner, 'appName'>, { file, app, db }: AppStorage): void {
  if (app !== undefined && app !== appName)
    throw new UsageError(
      `--app cannot be used with "${file}": the file exports a Runner for the app "${appName}". Remove --app.`,
    )
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
