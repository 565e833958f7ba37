import { isRecord } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'
import type { Part } from '../content/content.ts'
import { ToolwrightError } from '../error/error.ts'

/** Checked for callers without types, before anything is stored: a stored value that is no part would count as damage. */
export function checkPart(part: Part): void {
  if (isRecord(part)) return
  throw new ToolwrightError('INVALID_REQUEST', `An artifact must be a part such as { text }, got ${kindOf(part)}.`)
}

export function checkFilename(filename: string): void {
  if (typeof filename === 'string') return
  throw new ToolwrightError('INVALID_REQUEST', 'filename must be a string.')
}
