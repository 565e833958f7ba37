import { expect, test } from 'vitest'
import { hideSecrets } from './hide-secrets.ts'

test.each([
  "OpenAI API key is missing. Pass it using the 'apiKey' parameter or the OPENAI_API_KEY environment variable.",
  'API key not valid. Please pass a valid API key.',
  'Bearer authentication is required.',
  'Basic authentication failed',
  'Unexpected token \'<\', "<!DOCTYPE "... is not valid JSON',
  'Unexpected token: identifier',
  'max_tokens: 4096 is more than the model supports',
  'The token limit is 128000 tokens, you asked for 200000.',
  'Missing key: required',
  'password: must be at least 8 characters',
  'See https://example.com/docs/key-management?page=2#keys',
  'The secret ingredient is missing',
  'token expired at 2024-01-01T00:00:00Z',
  'Could not connect to https://example.com:8080/v1',
  'Use key=value pairs.',
  'The plan is too long.',
])('hideSecrets() does not change: %s', (message) => {
  expect(hideSecrets(message)).toBe(message)
})

test.each([
  ['Incorrect API key provided: sk-test-0123456789abcdef.', 'Incorrect API key provided: [hidden].'],
  ['The key AIzaSyAnotherAnotherAnotherAnother00 is blocked', 'The key [hidden] is blocked'],
  ['at /v1/models?key=in-the-address&alt=sse', 'at /v1/models?key=[hidden]&alt=sse'],
  ['https://example.com/?access_token=abc.def.ghi#x', 'https://example.com/?access_token=[hidden]'],
  ['key=hunter2hunter2', 'key=[hidden]'],
  ['api_key: "abcdefgh"', 'api_key: "[hidden]"'],
  ["{ apiKey: 'correct-horse' }", "{ apiKey: '[hidden]' }"],
  ['{"x-goog-api-key":"s3cr3t!value","model":"m"}', '{"x-goog-api-key":"[hidden]","model":"m"}'],
  ['{\\"client_secret\\":\\"abcdefghij\\"}', '{\\"client_secret\\":\\"[hidden]\\"}'],
  ['x-goog-api-key: abc123def456', 'x-goog-api-key: [hidden]'],
  ['Authorization: Bearer of-a-gateway', 'Authorization: Bearer [hidden]'],
  ['authorization: Basic dXNlcjpwYXNz', 'authorization: Basic [hidden]'],
  ['"Authorization": "Bearer abc"', '"Authorization": "Bearer [hidden]"'],
  ['sent Bearer abcdef123456 to it', 'sent Bearer [hidden] to it'],
  ['of Bearer of-a-gateway at', 'of Bearer [hidden] at'],
  ["API key 'abcdef1234567890abcd' is invalid", "API key '[hidden]' is invalid"],
  ['postgres://ann:hunter2@db.example/x', 'postgres://ann:[hidden]@db.example/x'],
  ['http://:p@ss@proxy:8080', 'http://:[hidden]@proxy:8080'],
  ['password=hunter2', 'password=[hidden]'],
  ['OPENAI_API_KEY=sk-proj-abcdefghijklmnop1', 'OPENAI_API_KEY=[hidden]'],
  ['token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln is bad', 'token [hidden] is bad'],
  ['ghp_0123456789abcdefghij', '[hidden]'],
])('hideSecrets() hides the secret of: %s', (message, shown) => {
  expect(hideSecrets(message)).toBe(shown)
})

// Only guards against a hang.
test('hideSecrets() searches long messages in linear time', { timeout: 30_000 }, () => {
  for (const unit of [
    'a',
    'key',
    'key=',
    'a-',
    'sk-',
    '://',
    '://a:',
    'token ',
    'Bearer ',
    'eyJaaaaaaaa.',
    'api key',
    ' ',
    '"',
    'ya29.',
  ])
    expect(typeof hideSecrets(unit.repeat(500_000 / unit.length))).toBe('string')
})

test.each(['eyJaaaaaaaa-', 'key=bearer ', '://a:', 'sk-a', 'token ', 'AIza-', 'password: "'])(
  'hideSecrets() reads two million characters of %j once',
  (piece) => {
    const text = piece.repeat(2_000_000 / piece.length)
    expect(hideSecrets(text).length).toBeGreaterThan(0)
  },
)
