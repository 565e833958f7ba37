// Loads artifacts as files for model-written code, and saves files that the code wrote as artifacts.

import { encodeBase64 } from '../../../core/base/base64.ts'
import { withoutUserPrefix } from '../../../core/base/key-scope.ts'
import type { Part } from '../../../core/content/content.ts'
import { isMediaName } from '../../../services/artifact/media-name.ts'
import type { CallContext } from '../../context/call-context.ts'
import type { CodeFile } from '../../tool/code-executor.ts'

/** Most files for one piece of code. Artifacts above this number are skipped, and the model sees their names. */
const MAX_FILES = 100
/** Most base64 characters of all files together. */
const MAX_BASE64 = 32_000_000

/** The artifacts that code can read as files. */
export interface InputFiles {
  /** The files for the executor. */
  readonly files: readonly CodeFile[]
  /** The artifact name of each file name. */
  readonly artifacts: ReadonlyMap<string, string>
  /** Names of artifacts that are not available as files. */
  readonly skipped: readonly string[]
}

/**
 * Loads every artifact of the session and of its user, under a plain file name. Media of messages and results are left
 * out.
 */
export async function loadInputFiles(context: CallContext): Promise<InputFiles> {
  const files: CodeFile[] = []
  const artifacts = new Map<string, string>()
  const skipped: string[] = []
  let size = 0
  for (const filename of await context.listArtifacts()) {
    if (isMediaName(filename)) continue
    const file = files.length < MAX_FILES ? toFile(filename, await context.loadArtifact(filename)) : undefined
    if (!file || artifacts.has(file.name) || size + file.data.length > MAX_BASE64) {
      skipped.push(filename)
      continue
    }
    size += file.data.length
    files.push(file)
    artifacts.set(file.name, filename)
  }
  return { files, artifacts, skipped }
}

function toFile(filename: string, part: Part | undefined): CodeFile | undefined {
  const name = plainFileName(withoutUserPrefix(filename))
  if (name === undefined || !part) return undefined
  if (part.inlineData) return { name, mimeType: part.inlineData.mimeType, data: part.inlineData.data }
  if (part.text === undefined) return undefined
  return { name, mimeType: 'text/plain', data: encodeBase64(new TextEncoder().encode(part.text)) }
}

/**
 * Saves files that code wrote. A file loaded from an artifact becomes its next version. Returns the names of files it
 * could not save.
 */
export async function saveOutputFiles(
  context: CallContext,
  files: readonly CodeFile[],
  artifacts: ReadonlyMap<string, string>,
): Promise<string[]> {
  const unsaved: string[] = []
  for (const { name, mimeType = 'application/octet-stream', data } of files) {
    const filename = artifacts.get(name) ?? plainFileName(name)
    if (filename === undefined) unsaved.push(name)
    else await context.saveArtifact(filename, { inlineData: { mimeType, data } })
  }
  return unsaved
}

/** The name without folders, prefixes and control characters. Undefined if no valid file name is left. */
function plainFileName(name: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it replaces
  const plain = name.replace(/[/\\:\u0000-\u001f\u007f]/g, '_')
  return plain === '' || plain === '.' || plain === '..' || plain.length > 200 ? undefined : plain
}
