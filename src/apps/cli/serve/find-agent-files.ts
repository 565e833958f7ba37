import { readdir, stat } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { UsageError } from '../terminal.ts'

/** An agent file and the name of its app. */
interface FoundFile {
  /** The path of the file, as an import can find it from the working directory. */
  readonly file: string
  /** The name of the app; undefined if the file decides. */
  readonly app: string | undefined
}

/** The names of an agent file in the folder of an app. */
const AGENT_FILES = ['agent.ts', 'agent.mts', 'agent.js', 'agent.mjs']

/**
 * Finds agent files. A file is itself. In a folder, `agent.ts` is the app of the folder; without one, each `<app>/agent.ts` is
 * an app. A path that does not exist is returned as it is: loading it reports it.
 */
export async function findAgentFiles(paths: readonly string[]): Promise<FoundFile[]> {
  return (await Promise.all(paths.map(findIn))).flat()
}

async function findIn(path: string): Promise<FoundFile[]> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isDirectory()) return [{ file: path, app: undefined }]
  const own = await agentFileIn(path)
  if (own !== undefined) return [{ file: own, app: basename(resolve(path)) }]
  const names = (await readdir(path)).filter((name) => !name.startsWith('.') && name !== 'node_modules').sort()
  const apps = await Promise.all(
    names.map(async (app) => {
      const file = await agentFileIn(join(path, app))
      return file === undefined ? [] : { file, app }
    }),
  )
  if (apps.flat().length > 0) return apps.flat()
  throw new UsageError(
    `Folder "${path}" has no agent.ts, and no folder in it has one. Pass an agent file, or a folder with one folder per app: ${join(relative('', path) || '.', 'my_app', 'agent.ts')}.`,
  )
}

async function agentFileIn(folder: string): Promise<string | undefined> {
  for (const name of AGENT_FILES) {
    const file = join(folder, name)
    const found = await stat(file).catch(() => undefined)
    if (found?.isFile()) return file
  }
  return undefined
}
