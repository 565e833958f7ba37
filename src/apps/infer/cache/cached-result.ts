// A result as it is cached: positions and schemas, never code. It is checked before it is used.
import { isRecord } from '../../../core/base/json.ts'
import type { InferredFunction, InferredShape } from '../../../engine/tool/functions/inferred-function.ts'
import type { Attachment } from '../positions/attachments.ts'
import type { IncludedFolder } from '../project/find-project.ts'
import type { Dependencies, FileHash } from './dependencies.ts'
import { hashOf } from './hash.ts'

/** Changes when the meaning of a cached result changes. */
const FORMAT = 2

/** The result of reading one file. */
export interface CachedResult {
  /** The expressions that get what was inferred. */
  readonly attachments: readonly Attachment[]
  /** The files outside of packages whose types were read. */
  readonly readFiles: readonly string[]
}

/** Writes a result for the cache. */
export function formatResult(source: string, result: CachedResult, dependencies: Dependencies): string {
  const body = JSON.stringify({ source: hashOf(source), dependencies, ...result })
  return `${JSON.stringify({ format: FORMAT, digest: hashOf(body) })}\n${body}`
}

/** Reads a cached result. Undefined if it is damaged, for another source text, or if what it depends on has changed. */
export function parseResult(
  text: string,
  source: string,
  isCurrent: (dependencies: Dependencies) => boolean,
): CachedResult | undefined {
  const end = text.indexOf('\n')
  const body = text.slice(end + 1)
  const header = parseJson(text.slice(0, end))
  if (!isRecord(header) || header.format !== FORMAT || header.digest !== hashOf(body)) return undefined
  const content = parseJson(body)
  if (!isRecord(content) || content.source !== hashOf(source)) return undefined
  const { attachments, readFiles, dependencies } = content
  if (!isListOf(attachments, (item): item is Attachment => isAttachment(item, source))) return undefined
  if (!isListOf(readFiles, isText) || !isDependencies(dependencies) || !isCurrent(dependencies)) return undefined
  return { attachments, readFiles }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isAttachment(value: unknown, source: string): value is Attachment {
  if (!isRecord(value)) return false
  const { start, end, isShorthand, expectedName, shape } = value
  if (!Number.isInteger(start) || !Number.isInteger(end)) return false
  if ((start as number) < 0 || (start as number) >= (end as number) || (end as number) > source.length) return false
  if (isShorthand !== undefined && isShorthand !== true) return false
  return (expectedName === undefined || isText(expectedName)) && isShape(shape)
}

function isShape(value: unknown): value is InferredShape {
  return isListOf(value, isFunction) || isFunction(value)
}

function isFunction(value: unknown): value is InferredFunction {
  if (!isRecord(value)) return false
  const { name, description, parameters, call, response } = value
  return (
    (name === undefined || isText(name)) &&
    (description === undefined || isText(description)) &&
    isRecord(parameters) &&
    isListOf(call, isParameter) &&
    (response === undefined || isRecord(response))
  )
}

function isParameter(value: unknown): value is InferredFunction['call'][number] {
  if (!isRecord(value)) return false
  return value.context === true || value.allArguments === true || isText(value.argument)
}

function isDependencies(value: unknown): value is Dependencies {
  if (!isRecord(value)) return false
  const { files, absent, included, ignored, declarations } = value
  if (!isListOf(files, isFileHash) || !isListOf(absent, isText)) return false
  return isListOf(included, isIncludedFolder) && isListOf(ignored, isText) && isText(declarations)
}

function isFileHash(value: unknown): value is FileHash {
  return Array.isArray(value) && value.length === 2 && value.every(isText)
}

function isIncludedFolder(value: unknown): value is IncludedFolder {
  return isRecord(value) && isText(value.path) && typeof value.isRecursive === 'boolean'
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isListOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(isItem)
}
