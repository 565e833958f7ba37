import { kindOf } from '../../core/base/kind-of.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { checkId, checkTogether } from '../session/check-key.ts'
import type { SlotRequest } from './service.ts'

/** The most characters of a name, which may hold an id. */
const MAX_NAME_LENGTH = 1_100

/** Throws INVALID_REQUEST if a slot cannot be asked for. */
export function checkSlot({ appName, name, max, slotId, userId, leaseMs, place }: SlotRequest): void {
  checkId('appName', appName)
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_LENGTH)
    throw invalid('name', kindOf(name), `a string of 1 to ${MAX_NAME_LENGTH} characters`)
  checkId('The id of a slot', slotId)
  checkId('userId', userId)
  checkTogether({ appName, name })
  checkTogether({ appName, userId })
  if (place) checkId('The ticket of a place in line', place.ticket)
  if (!Number.isSafeInteger(max) || max < 1) throw invalid('max', max, 'a whole number >= 1')
  if (!isDuration(leaseMs)) throw invalid('leaseMs', leaseMs, 'a number of milliseconds > 0')
  if (place && !isDuration(place.waitMs)) throw invalid('waitMs', place.waitMs, 'a number of milliseconds > 0')
}

function isDuration(ms: unknown): boolean {
  return Number.isFinite(ms) && Number(ms) > 0
}

function invalid(option: string, value: unknown, expects: string): ToolwrightError {
  return new ToolwrightError(
    'INVALID_REQUEST',
    `A slot cannot be taken: ${option} must be ${expects}, got ${String(value)}.`,
  )
}
