import { expect, test } from 'vitest'
import { maskSecrets, secretsOf } from './mask-secrets.ts'

const secrets = secretsOf({ authorization: 'Bearer canary-token', 'x-key': 'canary-key', 'x-region': 'eu' })

test('hides the token of a header in a result, also without its scheme and encoded', () => {
  const encoded = Buffer.from('canary-token').toString('base64')
  const result = { text: 'Got Bearer canary-token and canary-token.', 'canary-key': [encoded], region: 'eu' }
  expect(maskSecrets(result, secrets)).toEqual({
    text: 'Got [hidden] and [hidden].',
    '[hidden]': ['[hidden]'],
    region: 'eu',
  })
})

test('leaves a result without secrets as it is', () => {
  const result = { text: 'eu' }
  expect(maskSecrets(result, secretsOf({ 'x-region': 'eu' }))).toBe(result)
})
