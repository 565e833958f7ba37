import { expect, test } from 'vitest'
import { toFinishReason } from './finish-reason.ts'

test.each([
  ['stop', 'STOP'],
  ['tool-calls', 'STOP'],
  ['length', 'MAX_TOKENS'],
  ['content-filter', 'SAFETY'],
  ['error', 'OTHER'],
  ['unknown', 'OTHER'],
  [undefined, 'OTHER'],
  [{ unified: 'stop', raw: 'end_turn' }, 'STOP'],
  [{ unified: 'error', raw: 'MALFORMED_FUNCTION_CALL' }, 'MALFORMED_FUNCTION_CALL'],
])('toFinishReason() converts %o to %s', (given, reason) => expect(toFinishReason(given).reason).toBe(reason))
