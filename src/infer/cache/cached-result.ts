// A result as it is cached: positions and schemas, never code. It is checked before it is used.
import { isRecord } from '../../base/json.ts'
import type { InferredFunction, InferredShape } from '../../tool/functions/inferred-function.ts'
import type { Attachment } from '../positions/find-tool-functions.ts'

/** Changes when the meaning of a cached result changes. */
const FORMAT = 1

/** The result of reading one file. */
export interface CachedResult {
  /** The expressions that get what was inferred. */
  readonly attachments: readonly Attachment[]
  /** The files outside of packages whose types were read. */
  readonly readFiles: readonly string[]
}

/** A file that the result depends on, and the hash of its content. The hash of a file that does not exist is empty. */
export type Dependency = readonly [path: string, hash: string]

/** Writes a result for the cache. */
export function formatResult(source: string, result: CachedResult, dependencies: readonly Dependency[]): string {
  const body = JSON.stringify({ source: hashOf(source), dependencies, ...result })
  return `${JSON.stringify({ format: FORMAT, digest: hashOf(body) })}\n${body}`
}

/** Reads a cached result. Undefined if it is damaged, for another source text, or if a file that it depends on has changed. */
export function parseResult(
  text: string,
  source: string,
  hashFile: (path: string) => string,
): CachedResult | undefined {
  const end = text.indexOf('\n')
  const body = text.slice(end + 1)
  const header = parseJson(text.slice(0, end))
  if (!isRecord(header) || header.format !== FORMAT || header.digest !== hashOf(body)) return undefined
  const content = parseJson(body)
  if (!isRecord(content) || content.source !== hashOf(source)) return undefined
  const { attachments, readFiles, dependencies } = content
  if (!isListOf(attachments, (item): item is Attachment => isAttachment(item, source))) return undefined
  if (!isListOf(readFiles, isText) || !isListOf(dependencies, isDependency)) return undefined
  if (dependencies.some(([path, expected]) => hashFile(path) !== expected)) return undefined
  return { attachments, readFiles }
}

/**
 * The hash of a text: 106 bits, for changes and damage. It is no proof against forgery, which the owner of the folder could do anyway.
 * Loading node:crypto takes longer than everything else that a cached result needs.
 */
export function hashOf(text: string): string {
  return halfHash(text, 0x9e3779b9) + halfHash(text, 0x85ebca6b)
}

function halfHash(text: string, seed: number): string {
  let [high, low] = [0xdeadbeef ^ seed, 0x41c6ce57 ^ seed]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    high = Math.imul(high ^ code, 0x9e3779b1)
    low = Math.imul(low ^ code, 0x5f356495)
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35)
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(16).padStart(14, '0')
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

function isDependency(value: unknown): value is Dependency {
  return Array.isArray(value) && value.length === 2 && value.every(isText)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isListOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(isItem)
}
