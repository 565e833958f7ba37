import { kindOf } from '../../core/base/kind-of.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { checkId } from './check-key.ts'

/** The most characters of a pin. */
const MAX_PIN_LENGTH = 1_000_000

/** Throws INVALID_REQUEST if the app, the name or the hash of a pin is not valid. */
export function checkPin(appName: unknown, name: unknown, hash: unknown = ''): void {
  checkId('appName', appName)
  checkId('The name of a pin', name)
  if (typeof hash === 'string' && hash.length <= MAX_PIN_LENGTH) return
  const given = typeof hash === 'string' ? `${hash.length} characters` : kindOf(hash)
  throw new ToolwrightError(
    'INVALID_REQUEST',
    `A pin must be a string of at most ${MAX_PIN_LENGTH} characters, got ${given}.`,
  )
}
