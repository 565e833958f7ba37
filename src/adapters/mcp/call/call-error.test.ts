import { ProtocolError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { isLostSession } from './call-error.ts'

test('HTTP status 404 is a lost session', () => {
  expect(isLostSession(new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'gone', { status: 404 }))).toBe(true)
})

test('an error that the server answers is no lost session, whatever its data says', () => {
  expect(isLostSession(new ProtocolError(-32_000, 'The order does not exist', { status: 404 }))).toBe(false)
})
