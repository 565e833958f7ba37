// The files of one version of an artifact, in a folder of their own: `version.json` describes it, `part.json` is the part, and `content`
// has the bytes of inline data, as any program can open them.
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '../../core/base/json.ts'
import type { Part } from '../../core/content/content.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { ArtifactVersion } from '../../services/artifact/service.ts'
import { codeOf, damaged } from './file-error.ts'

/** A version as it is written: its number is the name of its folder. */
export interface WrittenVersion {
  /** The name of the artifact: a folder may have its hash only. */
  readonly filename: string
  /** What the version is, without its number. */
  readonly described: Omit<ArtifactVersion, 'version'>
  /** What was saved. */
  readonly part: Part
}

const DESCRIPTION = 'version.json'
const PART = 'part.json'
const CONTENT = 'content'

/** Never follows a link, where the system can tell. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)

/** Prepares the files of a version, in memory. Throws INVALID_REQUEST if JSON cannot hold the metadata. */
export function encodeVersion({ filename, described, part }: WrittenVersion): ReadonlyMap<string, string | Uint8Array> {
  const bytes = decodeBase64(part.inlineData?.data)
  const rest = bytes ? { ...part, inlineData: { ...part.inlineData, data: undefined } } : part
  return new Map<string, string | Uint8Array>([
    [DESCRIPTION, toJson({ filename, ...described })],
    [PART, toJson(rest)],
    ...(bytes ? [[CONTENT, bytes] as const] : []),
  ])
}

/** Writes the files into a new folder, and waits until they are on the disk. */
export async function writeFolder(folder: string, files: ReadonlyMap<string, string | Uint8Array>): Promise<void> {
  await mkdir(folder, { mode: 0o700 })
  for (const [name, content] of files) {
    await using file = await open(join(folder, name), 'wx', 0o600)
    await file.writeFile(content)
    await file.sync()
  }
  await syncFolder(folder)
}

/** Waits until the names in a folder are on the disk. Windows cannot do so, and needs it not. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  await using handle = await open(folder, 'r')
  await handle.sync()
}

/** Reads what a version is, and the name of the artifact. Undefined if there is no such folder; throws STORAGE if it is damaged. */
export async function readDescription(folder: string): Promise<Omit<WrittenVersion, 'part'> | undefined> {
  const text = await readText(folder, DESCRIPTION)
  if (text === undefined) return undefined
  const { filename, createTime, mimeType, customMetadata } = parseObject(text, folder, DESCRIPTION)
  if (typeof filename !== 'string' || typeof createTime !== 'number')
    throw damaged(folder, `${DESCRIPTION} has no filename or no time`)
  const described = {
    createTime,
    ...(typeof mimeType === 'string' && { mimeType }),
    ...(isRecord(customMetadata) && { customMetadata }),
  }
  return { filename, described }
}

/** Reads the part of a version. Undefined if there is no such folder; throws STORAGE if it is damaged. */
export async function readPart(folder: string): Promise<Part | undefined> {
  const text = await readText(folder, PART)
  if (text === undefined) return undefined
  const part: Part = parseObject(text, folder, PART)
  const { inlineData } = part
  if (inlineData === undefined) return part
  if (!isRecord(inlineData)) throw damaged(folder, `${PART} has no valid inlineData`)
  if (inlineData.data !== undefined) return part // it is empty or no base64
  await using file = await openFile(join(folder, CONTENT))
  if (!file) throw damaged(folder, `${CONTENT} is missing`)
  return { ...part, inlineData: { ...inlineData, data: await file.readFile('base64') } }
}

/** The text of a file. Undefined if there is no folder; throws STORAGE if only the file is missing. */
async function readText(folder: string, name: string): Promise<string | undefined> {
  await using file = await openFile(join(folder, name))
  if (file) return await file.readFile('utf8')
  if (!(await exists(folder))) return undefined
  throw damaged(folder, `${name} is missing`)
}

async function openFile(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, READ)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    if (codeOf(error) === 'ELOOP') throw damaged(path, 'it is a link')
    throw error
  }
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  )
}

function parseObject(text: string, folder: string, name: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw damaged(folder, `${name} is not JSON`, error)
  }
  if (isRecord(value)) return value
  throw damaged(folder, `${name} is not an object`)
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    throw new ToolwrightError('INVALID_REQUEST', 'An artifact must be JSON: its metadata cannot be stored.', {
      cause: error,
    })
  }
}

/** Decodes base64 that encodes to the same text again; undefined for any other text, which stays in the part. */
function decodeBase64(data: unknown): Uint8Array | undefined {
  if (typeof data !== 'string' || data === '') return undefined
  const bytes = Buffer.from(data, 'base64')
  return bytes.toString('base64') === data ? bytes : undefined
}
