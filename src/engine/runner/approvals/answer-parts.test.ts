import { expect, test } from 'vitest'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { approve, deny, respond } from './answer-parts.ts'

const request = { id: 'r1', kind: 'confirmation', tool: 'pay' } as PendingRequest
const answers: [string, (request: PendingRequest) => unknown][] = [
  ['approve()', approve],
  ['deny()', deny],
  ['respond()', (one) => respond(one, { confirmed: true })],
]

test.each(answers)('%s rejects a value that is not a pending request', (name, answer) => {
  const [missing] = [] as PendingRequest[]
  for (const none of [missing, null, 'r1', {}, { ...request, id: '' }]) {
    expect(() => answer(none as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', message: expect.stringContaining(`${name} takes a pending`) }),
    )
  }
})

test.each(answers)('%s answers a request by its id', (_name, answer) => {
  expect(answer(request)).toMatchObject({ functionResponse: { id: 'r1', name: 'adk_request_confirmation' } })
})
