// Artifacts as files for code, and files it wrote as artifacts.
import { isMediaName } from '../../artifact/media-name.ts'
import { encodeBase64 } from '../../base/base64.ts'
import { withoutUserPrefix } from '../../base/key-scope.ts'
import type { Part } from '../../content/content.ts'
import type { CallContext } from '../../tool/call-context.ts'
import type { CodeFile } from '../../tool/code-executor.ts'

/** More than this is left out, and the model is told. */
const MAX_FILES = 100
const MAX_BASE64 = 32_000_000

export interface InputFiles {
  readonly files: readonly CodeFile[]
  /** The artifact each file name stands for. */
  readonly artifacts: ReadonlyMap<string, string>
  readonly skipped: readonly string[]
}

/** Every artifact of the session and of its user, under a plain file name; not the media of its messages and results. */
export async function loadInputFiles(context: CallContext): Promise<InputFiles> {
  const files: CodeFile[] = []
  const artifacts = new Map<string, string>()
  const skipped: string[] = []
  let size = 0
  for (const filename of await context.listArtifacts()) {
    if (isMediaName(filename)) continue
    const file = files.length < MAX_FILES ? asFile(filename, await context.loadArtifact(filename)) : undefined
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

function asFile(filename: string, part: Part | undefined): CodeFile | undefined {
  const name = fileName(withoutUserPrefix(filename))
  if (name === undefined || !part) return undefined
  if (part.inlineData) return { name, mimeType: part.inlineData.mimeType, data: part.inlineData.data }
  if (part.text === undefined) return undefined
  return { name, mimeType: 'text/plain', data: encodeBase64(new TextEncoder().encode(part.text)) }
}

/** Saves what code wrote; a file that came from an artifact becomes its next version. Gives what could not be saved. */
export async function saveOutputFiles(
  context: CallContext,
  files: readonly CodeFile[],
  artifacts: ReadonlyMap<string, string>,
): Promise<string[]> {
  const refused: string[] = []
  for (const { name, mimeType = 'application/octet-stream', data } of files) {
    const filename = artifacts.get(name) ?? fileName(name)
    if (filename === undefined) refused.push(name)
    else await context.saveArtifact(filename, { inlineData: { mimeType, data } })
  }
  return refused
}

/** A name that is a file's and nothing else: no folders, no `user:`, no control characters. */
function fileName(name: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  const plain = name.replace(/[/\\:\u0000-\u001f\u007f]/g, '_')
  return plain === '' || plain === '.' || plain === '..' || plain.length > 200 ? undefined : plain
}
