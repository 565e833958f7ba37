import type { Logger } from '../../../engine/dispatch/host.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import type { Authenticate } from '../../server/principal/principal.ts'
import type { ServerOptions } from '../../server/server-options.ts'
import { type AgentFile, loadAgentFile } from '../load/agent-file.ts'
import { MEMORY } from '../load/app-database.ts'
import { appNameOf, checkOwnStore, createRunner, databaseFor, type OpenedRunner } from '../load/create-runner.ts'
import { UsageError } from '../terminal.ts'
import { findAgentFiles } from './find-agent-files.ts'

/** Which apps to open, and where their sessions are stored. */
interface OpenAppsOptions {
  /** Agent files and folders. */
  readonly paths: readonly string[]
  /** `--app`; the name of the only app. */
  readonly app: string | undefined
  /** `--db`; undefined stores each app in a file of its own below `folder`. */
  readonly db: string | undefined
  /** The working directory. */
  readonly folder: string
  /** The apps run nothing. Default: false. */
  readonly withoutModels?: boolean | undefined
  /** Names of models to find beside those of the agents. Default: none. */
  readonly moreModels?: readonly string[] | undefined
  /** Receives warnings and errors of the runners. */
  readonly logger: Logger
  /** Called with each file that is read for an agent file. */
  readonly onFile?: ((file: string) => void) | undefined
}

/** An app of the server. */
export interface OpenedApp extends OpenedRunner {
  /** The name of the app. */
  readonly name: string
  /** The agent file. */
  readonly file: string
  /** The exports of the file. */
  readonly exports: AgentFile
  /** Where sessions are stored, for the user. */
  readonly storage: string
}

/** Loads the agent files and opens a store for each. Closes what it has opened when one of them fails. */
export async function openApps(options: OpenAppsOptions): Promise<OpenedApp[]> {
  const files = await findAgentFiles(options.paths)
  if (options.app !== undefined && files.length > 1)
    throw new UsageError(`--app names one app, but there are ${files.length} agent files. Remove --app.`)
  const opened: OpenedApp[] = []
  try {
    for (const { file, app } of files) {
      const one = await openApp(file, options.app ?? app, options)
      opened.push(one)
      const other = opened.find(({ name }) => name === one.name)
      if (other !== one) throw duplicateError(one, other)
    }
    const [first] = opened
    // among others, a runner keeps its own store
    if (first && opened.every(({ exports }) => exports.root instanceof Runner))
      checkOwnStore(first.runner, { file: first.file, app: options.app, db: options.db })
    return opened
  } catch (error) {
    await closeApps(opened)
    throw error
  }
}

async function openApp(file: string, app: string | undefined, options: OpenAppsOptions): Promise<OpenedApp> {
  const exports = await loadAgentFile(file, options)
  if (exports.root instanceof Runner) {
    const opened = await createRunner(exports, { file }, options.logger)
    return { ...opened, name: exports.root.appName, file, exports, storage: 'the store of its runner' }
  }
  const name = app ?? appNameOf(file)
  const storage = databaseFor(exports, { file, app: name, db: options.db }, options.folder)
  const { withoutModels, moreModels } = options
  const opened = await createRunner(exports, { ...storage, withoutModels, moreModels }, options.logger)
  return { ...opened, name, file, exports, storage: storage.db === MEMORY ? 'memory' : (storage.db ?? '') }
}

function duplicateError(one: OpenedApp, other: OpenedApp | undefined): UsageError {
  return new UsageError(
    `Two apps are called "${one.name}": "${other?.file}" and "${one.file}". Rename a file, or serve them in two processes.`,
  )
}

/** Closes the runners, unless a server has closed them, then their stores. */
export async function closeApps(
  apps: readonly OpenedApp[],
  { hasServer = false }: { readonly hasServer?: boolean } = {},
): Promise<void> {
  if (!hasServer) await Promise.all(apps.map(({ runner }) => runner.close()))
  for (const { close } of apps) close()
}

/** The apps as options of the server. */
export function serverOptionsOf(
  apps: readonly OpenedApp[],
): Pick<ServerOptions, 'apps' | 'live' | 'tours' | 'agentFiles' | 'authenticate'> {
  return {
    apps: Object.fromEntries(apps.map(({ name, runner }) => [name, runner])),
    live: Object.fromEntries(apps.flatMap(({ name, exports: { live } }) => (live ? [[name, live]] : []))),
    tours: Object.fromEntries(apps.map(({ name, exports: { tour } }) => [name, tour])),
    agentFiles: Object.fromEntries(apps.map(({ name, file }) => [name, file])),
    authenticate: authenticateOf(apps),
  }
}

/** One server has one `authenticate`. An app without it would otherwise be open to the users of another. */
function authenticateOf(apps: readonly OpenedApp[]): Authenticate | undefined {
  const [first, ...others] = new Set(apps.map(({ exports }) => exports.authenticate))
  if (others.length === 0) return first
  throw new UsageError(
    'The agent files export different "authenticate" functions, or some export none. Export the same function from each, or serve them in several processes.',
  )
}
