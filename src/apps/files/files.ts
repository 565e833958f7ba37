import { accessSync, constants, mkdirSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { kindOf } from '../../core/base/kind-of.ts'
import { systemPorts } from '../../core/base/ports.ts'
import { callback, checkOptions, type OptionRules, objectWith } from '../../core/error/check-options.ts'
import { messageOf, ToolwrightError } from '../../core/error/error.ts'
import type { Logger } from '../../engine/dispatch/host.ts'
import type { ArtifactService } from '../../services/artifact/service.ts'
import { FileArtifactService } from './artifact-service.ts'

/** Options of `files()`. */
export interface FilesOptions {
  /** Current time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: (() => number) | undefined
  /** Receives reports of damaged files that are left out of lists. Default: `console`. */
  readonly logger?: Logger | undefined
}

const RULES: OptionRules<FilesOptions> = { now: callback, logger: objectWith('warn', 'error') }

/** The service of a folder. Spread it into the options of a runner, after those of another store. */
export interface FileServices {
  /** Stores artifacts. */
  readonly artifactService: ArtifactService
}

/**
 * Stores artifacts as files in a folder, which several processes can use at once. A missing folder is created, for its owner only.
 *
 * @example
 * const runner = new Runner({ appName: 'shop', agent, ...sqlite('shop.db'), ...files('./artifacts') })
 */
export function files(folder: string | URL, options: FilesOptions = {}): FileServices {
  checkOptions('files()', options, RULES)
  const { now = systemPorts.now, logger = console } = options
  return { artifactService: new FileArtifactService(openFolder(toPath(folder)), { now, logger }) }
}

function toPath(folder: unknown): string {
  if (folder instanceof URL && folder.protocol === 'file:') return fileURLToPath(folder)
  if (typeof folder === 'string' && folder.trim() !== '' && !folder.includes('\0')) return resolve(folder)
  const got = typeof folder === 'string' ? 'a path that is blank or contains NUL' : kindOf(folder)
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `files() requires the path of a folder or a file: URL object, got ${got}.`,
  )
}

/** Creates the folder if it is missing. Returns its real path: a later `chdir` or change of a link selects no other folder. */
function openFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const folder = realpathSync(path)
    if (!statSync(folder).isDirectory()) throw new Error('it is not a folder')
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return folder
  } catch (error) {
    const advice = 'Pass a folder that this process may write to files().'
    const message = `The folder "${path}" cannot be used for artifacts: ${messageOf(error)}. ${advice}`
    throw new ToolwrightError('INVALID_CONFIG', message, { cause: error })
  }
}
