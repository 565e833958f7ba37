import { isRecord } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'
import type { Part } from '../content/content.ts'
import { ToolwrightError } from '../error/error.ts'

/**
 * Throws INVALID_REQUEST if an artifact is not a part. When it is loaded, a value of another kind would be reported as
 * damaged.
 */
export function checkPart(part: Part): void {
  if (isRecord(part)) return
  throw new ToolwrightError('INVALID_REQUEST', `An artifact must be a part such as { text }, got ${kindOf(part)}.`)
}

/** Throws INVALID_REQUEST if a filename is not a string. */
export function checkFilename(filename: string): void {
  if (typeof filename === 'string') return
  throw new ToolwrightError('INVALID_REQUEST', `filename must be a string, got ${kindOf(filename)}.`)
}
