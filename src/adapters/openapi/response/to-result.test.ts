import { describe, expect, test } from 'vitest'
import type { ToolError } from '../../../core/error/error.ts'
import { InMemoryArtifactService } from '../../../services/artifact/in-memory.ts'
import { callTool, documentOf, startApi, toolsOf } from '../api-server.test-kit.ts'

const spec = documentOf({ '/things': { get: { operationId: 'get_thing' } } })

/** The result of a call to which the API answers like this. */
async function answered(answer: { status?: number; type?: string; body?: string | Buffer }, call = {}) {
  await using api = await startApi((_, response) =>
    response.writeHead(answer.status ?? 200, answer.type ? { 'content-type': answer.type } : {}).end(answer.body),
  )
  return await callTool(await toolsOf({ spec, baseUrl: api.url }), 'get_thing', call)
}

test.each<[string, Parameters<typeof answered>[0], unknown]>([
  ['JSON', { type: 'application/json; charset=utf-8', body: '{"a":[1,null]}' }, { a: [1, null] }],
  ['problem JSON', { type: 'application/vnd.api+json', body: '"x"' }, 'x'],
  ['invalid JSON as text', { type: 'application/json', body: '{oops' }, '{oops'],
  [
    'large integers as text',
    { type: 'application/json', body: '{"id":12345678901234567890,"n":1}' },
    { id: '12345678901234567890', n: 1 },
  ],
  [
    'JSON that is nested too deeply as text',
    { type: 'application/json', body: '['.repeat(100_000) + ']'.repeat(100_000) },
    expect.stringMatching(/^\[{100}/),
  ],
  ['text', { type: 'text/plain', body: 'hello' }, 'hello'],
  ['text in another charset', { type: 'text/plain; charset=iso-8859-1', body: Buffer.from([0xe9]) }, 'é'],
  ['XML as text', { type: 'application/atom+xml', body: '<a/>' }, '<a/>'],
  ['HTML as text', { type: 'text/html', body: '<script>1</script>' }, '<script>1</script>'],
  ['JSON without a type', { body: '{"a":1}' }, { a: 1 }],
  ['text without a type', { body: 'hi' }, 'hi'],
  ['no content', { status: 204 }, null],
  ['an empty body', { type: 'application/json', body: '' }, null],
])('returns %s', async (_, answer, body) => {
  expect(await answered(answer)).toEqual({ status: answer.status ?? 200, body })
})

describe('files', () => {
  const png = Buffer.from([0x89, 0x50, 0, 255])

  test('are saved as artifacts', async () => {
    const artifactService = new InMemoryArtifactService()
    const result = await answered({ type: 'image/png', body: png }, { artifactService })
    const artifact = { filename: 'get_thing.png', version: 0, mimeType: 'image/png', bytes: 4 }
    expect(result).toEqual({ status: 200, body: { artifact } })
    const where = { appName: 'app', userId: 'user', sessionId: 'session', filename: 'get_thing.png' }
    expect(await artifactService.loadArtifact(where)).toEqual({
      inlineData: { mimeType: 'image/png', data: png.toString('base64') },
    })
  })

  test('without an artifact service the model gets a note instead of bytes', async () => {
    expect(await answered({ type: 'image/png', body: png })).toEqual({
      status: 200,
      body: { mimeType: 'image/png', bytes: 4, note: expect.stringContaining('artifactService') },
    })
  })
})

describe('errors', () => {
  test.each([
    [400, 'INVALID_ARGS'],
    [422, 'INVALID_ARGS'],
    [401, 'AUTH_FAILED'],
    [403, 'AUTH_FAILED'],
    [404, 'NOT_FOUND'],
    [409, 'EXECUTION_FAILED'],
    [500, 'EXECUTION_FAILED'],
  ])('status %i is thrown with the code %s and the response', async (status, code) => {
    const body = JSON.stringify({ message: 'No such pet', hint: 'list them' })
    const error = await answered({ status, type: 'application/json', body }).catch((thrown: ToolError) => thrown)
    expect(error).toMatchObject({ name: 'ToolError', code })
    expect((error as ToolError).message).toBe(`The API answered with status ${status}. Its response: ${body}`)
  })
})
