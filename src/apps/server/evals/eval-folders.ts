// Finds the folder with the evaluations of an app: that of its agent file.
import { dirname, resolve } from 'node:path'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ServedApp } from '../apps.ts'
import type { RequestContext, ServerParts } from '../env.ts'
import { checkAnyUser } from '../principal/authentication.ts'
import { locateAgentFile } from '../routes/dev/agent-file.ts'
import { appOf } from '../routes/scope.ts'
import { EvalFolder } from './eval-folder.ts'

/** The folders of all apps. They hold files of the developer, so that only a principal that may act as any user uses them. */
export class EvalFolders {
  /** Where adk-web asks: `/dev` is newer. */
  readonly paths: readonly string[] = ['/dev/apps/:app', '/apps/:app']
  readonly #parts: ServerParts
  readonly #folders: Map<string, EvalFolder> = new Map()

  constructor(parts: ServerParts) {
    this.#parts = parts
  }

  /** The folder of the app of the path. Undefined if the server does not know its agent file. */
  async find(context: RequestContext): Promise<EvalFolder | undefined> {
    checkAnyUser(context, 'use the eval sets of an app')
    const app = appOf(context, this.#parts)
    const known = this.#folders.get(app.name)
    if (known) return known
    const file = await fileOf(app)
    if (file === undefined) return undefined
    const found = this.#folders.get(app.name) ?? new EvalFolder(dirname(resolve(file))) // one, also for requests at the same time
    this.#folders.set(app.name, found)
    return found
  }

  /** The folder of the app of the path. Throws NOT_FOUND. */
  async of(context: RequestContext): Promise<EvalFolder> {
    const found = await this.find(context)
    if (found) return found
    const app = appOf(context, this.#parts).name
    throw new ToolwrightError(
      'NOT_FOUND',
      `The server does not know the agent file of app "${app}", beside which its eval sets are. Set agentFiles.`,
    )
  }
}

async function fileOf({ name, file }: ServedApp): Promise<string | undefined> {
  return file ?? (await locateAgentFile(name))
}
