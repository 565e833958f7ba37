import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'

const ENDINGS = ['.ts', '.mts', '.js', '.mjs']

/**
 * The agent file of an app, as a file beside it imports it, such as `./desk.mts`. Looks for the files that the command line names apps
 * after: `<app>.ts`, `<app>/agent.ts`, and `agent.ts` in a folder with the name of the app. Undefined if there is none.
 */
export async function findAgentFile(app: string, folder: string = process.cwd()): Promise<string | undefined> {
  const file = await locateAgentFile(app, folder)
  return file && `./${basename(file)}`
}

/** The path of the agent file of an app. Undefined if there is none. */
export async function locateAgentFile(app: string, folder: string = process.cwd()): Promise<string | undefined> {
  if (app !== basename(app)) return undefined // not the name of a file
  const places = [app, join(app, 'agent'), ...(basename(folder) === app ? ['agent'] : [])]
  for (const place of places) {
    for (const ending of ENDINGS) {
      const file = join(folder, `${place}${ending}`)
      if ((await stat(file).catch(() => undefined))?.isFile()) return file
    }
  }
  return undefined
}
