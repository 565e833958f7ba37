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
])('reads the finish reason %o as %s', (given, reason) => expect(toFinishReason(given).reason).toBe(reason))
