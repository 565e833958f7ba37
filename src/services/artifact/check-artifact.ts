import { kindOf } from '../../core/base/kind-of.ts'
import type { Part } from '../../core/content/content.ts'
import { partProblem } from '../../core/content/part-problem.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { checkTogether } from '../session/check-key.ts'
import type { ArtifactKey } from './service.ts'

/** Throws INVALID_REQUEST if an artifact is not a part. Tools that load it rely on the types of its members. */
export function checkPart(part: Part): void {
  const problem = partProblem(part)
  if (problem !== undefined) throw invalid(`An artifact must be a part such as { text }: artifact${problem}`)
}

/** The most characters of a filename. Longer ones do not fit into the address of a request. */
const MAX_FILENAME_LENGTH = 1000

/** Throws INVALID_REQUEST if a filename is not a string. */
export function checkFilename(filename: string): void {
  if (typeof filename !== 'string') throw invalid(`filename must be a string, got ${kindOf(filename)}.`)
}

/** Throws INVALID_REQUEST if a new artifact cannot be stored under this key: no path and no address can name it, or it is too long. */
export function checkNewArtifactKey({ appName, userId, sessionId = '', filename }: ArtifactKey): void {
  checkFilename(filename)
  const name = filename.startsWith('user:') ? filename.slice('user:'.length) : filename
  if (name === '' || name === '.' || name === '..')
    throw invalid(`filename must be a name such as "report.pdf", got ${name === '' ? 'an empty one' : `"${name}"`}.`)
  if (filename.length > MAX_FILENAME_LENGTH)
    throw invalid(`filename must have at most ${MAX_FILENAME_LENGTH} characters, got ${filename.length}.`)
  checkTogether({ appName, userId, sessionId, filename })
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', message)
}
