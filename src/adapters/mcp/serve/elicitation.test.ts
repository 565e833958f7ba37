import { describe, expect, test } from 'vitest'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { answerFrom, elicitationFor, elicitationModes } from './elicitation.ts'

const both = { form: true, url: true }

function request(given: Partial<PendingRequest>): PendingRequest {
  const ids = { id: 'r1', userId: 'ada', sessionId: 's1', invocationId: 'e1', functionCallId: 'c1' }
  return { ...ids, kind: 'input', tool: 'order', args: {}, agent: 'mcp', ...given }
}

test.each([
  [undefined, { form: false, url: false }],
  [{}, { form: false, url: false }],
  [{ elicitation: {} }, { form: true, url: false }],
  [{ elicitation: { form: {} } }, { form: true, url: false }],
  [{ elicitation: { url: {} } }, { form: false, url: true }],
  [{ elicitation: { form: {}, url: {} } }, both],
  [{ elicitation: true }, { form: false, url: false }],
])('the capabilities %j allow %j', (capabilities, modes) => {
  expect(elicitationModes(capabilities)).toEqual(modes)
})

describe('elicitationFor()', () => {
  const formOf = (schema: PendingRequest['schema']): unknown =>
    elicitationFor(schema ? request({ schema }) : request({}), both)?.params.requestedSchema

  test('shows the fields of an object, and one field for other answers', () => {
    const fields = { street: { type: 'string' }, floor: { type: 'integer' } }
    expect(formOf({ type: 'object', properties: fields, required: ['street'], additionalProperties: false })).toEqual({
      type: 'object',
      properties: fields,
      required: ['street'],
    })
    expect(formOf({ type: 'number' })).toMatchObject({ properties: { answer: { type: 'number' } } })
    expect(formOf(undefined)).toMatchObject({ properties: { answer: { type: 'string' } } })
  })

  test('shows nothing for answers that a form cannot hold', () => {
    const nested = { type: 'object', properties: { at: { type: 'object' } } }
    expect(formOf(nested)).toBeUndefined()
    expect(formOf({ type: 'array', items: { type: 'object' } })).toBeUndefined()
    expect(elicitationFor(request({}), { form: false, url: true })).toBeUndefined()
    expect(elicitationFor(request({ kind: 'longRunning' }), both)).toBeUndefined()
  })

  test('makes invisible characters of the arguments visible', () => {
    const args = { to: 'Ada\u202eevE', note: 'a\u200bb' }
    const shown = elicitationFor(request({ kind: 'confirmation', args }), both)?.params.message
    expect(shown).toContain('Ada\\u{202e}evE')
    expect(shown).toContain('a\\u{200b}b')
  })
})

describe('answerFrom()', () => {
  const confirmation = request({ kind: 'confirmation' })

  test('approves with true only', () => {
    const confirmed = (content: unknown): unknown =>
      answerFrom(confirmation, { action: 'accept', content })?.functionResponse?.response?.confirmed
    expect(confirmed({ approve: true })).toBe(true)
    const inherited = Object.create({ approve: true })
    for (const content of [{ approve: 'true' }, { approve: 1 }, {}, inherited, null, [true], undefined])
      expect(confirmed(content)).toBe(false)
  })

  test.each([undefined, null, 7, 'accept', [], {}, { action: 'approve' }, { action: true }])(
    'leaves the request open for the malformed response %j',
    (response) => {
      expect(answerFrom(confirmation, response)).toBeUndefined()
    },
  )

  test('takes the fields of an object, or the one field', () => {
    const object = request({ schema: { type: 'object', properties: {} } })
    const accepted = { action: 'accept', content: { answer: 5 } }
    expect(answerFrom(object, accepted)?.functionResponse?.response).toEqual({ result: { answer: 5 } })
    expect(answerFrom(request({ schema: { type: 'number' } }), accepted)?.functionResponse?.response).toEqual({
      result: 5,
    })
  })

  test('never takes a credential from a client', () => {
    const accepted = { action: 'accept', content: { authResponseUri: 'http://evil.example.com?code=1' } }
    expect(answerFrom(request({ kind: 'credential' }), accepted)).toBeUndefined()
  })
})
