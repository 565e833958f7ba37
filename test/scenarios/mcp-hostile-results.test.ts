// What a hostile MCP server answers to a call. The model gets a clear result, and the other tools stay usable.
import { InMemoryArtifactService, type JsonObject } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { callOnce, hostileHttp, type Outcome } from '../mcp/hostile-kit.ts'

const LOST = { errorCode: 'UNKNOWN_OUTCOME', error: expect.stringContaining('(connection_closed)') }
const TIMED_OUT = { errorCode: 'UNKNOWN_OUTCOME', error: expect.stringContaining('timed out after 300 ms') }
const NOT_MCP = { errorCode: 'INVALID_RESULT', error: 'Tool "evil" returned a result that is not valid MCP.' }
const failed = (error: unknown, errorCode = 'EXECUTION_FAILED'): JsonObject => ({ error, errorCode })

/** Calls `evil` and then `echo` of a server over HTTP. */
async function callEvil(behaviour: string, artifactService?: InMemoryArtifactService): Promise<Outcome> {
  const isSilent = behaviour === 'wrong-id'
  await using server = await hostileHttp(behaviour)
  const outcome = await callOnce({
    connection: server.connection,
    calls: [{ name: 'evil' }, { name: 'echo', args: { text: 'hi' } }],
    options: isSilent ? { callTimeoutMs: 300 } : {},
    ...(artifactService && { runner: { artifactService } }),
  })
  const echo = outcome.responses.find(({ name }) => name === 'echo')
  expect(echo?.response, 'another call of the server').toEqual({ text: 'echo {"text":"hi"}' })
  return outcome
}

const cases: [behaviour: string, expected: unknown][] = [
  ['wrong-id', TIMED_OUT],
  ['answers-twice', { text: 'first' }],
  ['result-and-error', LOST],
  ['no-result', LOST],
  ['text-result', LOST],
  ['error-text-code', LOST],
  ['error-no-message', LOST],
  ['no-content', { status: 'completed' }],
  ['empty-content', { status: 'completed' }],
  ['wrong-content', NOT_MCP],
  ['unknown-content', NOT_MCP],
  ['invalid-base64', NOT_MCP],
  ['strange-media-type', { text: 'beside', leftOut: expect.stringContaining('1 parts of the result are left out') }],
  ['many-images', { media: Array(20).fill('image/png'), leftOut: expect.stringContaining('980 parts') }],
  ['many-blocks', { text: expect.stringContaining('block 9999'), leftOut: expect.stringContaining('90000 parts') }],
  ['huge-text', { truncated: true, bytes: 31_000_012 }],
  ['too-large', LOST],
  ['half-characters', { text: 'a\ufffdb\u0000c\u001b[31m' }],
  ['repeated-data', { structuredContent: { sum: 3 } }],
  ['wrong-data', failed(expect.stringContaining('sum: expected number'), 'INVALID_RESULT')],
  ['missing-data', failed(expect.stringContaining('did not return structured content'))],
  ['error-result', failed('The disk is full.')],
  ['silent-error', failed('Tool "evil" failed without a message.')],
  ['huge-error', failed(expect.stringMatching(/^y{8000}\.\.\.$/))],
  ['error-32700', failed('It went wrong.')],
  ['error-32600', failed('It went wrong.')],
  ['error-32601', failed('It went wrong.', 'NOT_FOUND')],
  ['error-32602', failed('It went wrong.', 'INVALID_ARGS')],
  ['error-32603', failed('It went wrong.')],
  ['error-0', failed('It went wrong.')],
  ['unknown-progress', { text: 'done' }],
  ['slow-with-progress', { text: 'done' }],
  ['honest', { text: 'echo {}' }],
]
test.each(cases)('a call of the server "%s" has a clear result', async (behaviour, expected) => {
  const { response } = await callEvil(behaviour)
  expect(response).toMatchObject(expected as JsonObject)
})

test('keys of a result cannot change prototypes', async () => {
  const { response } = await callEvil('polluting-data')
  expect(response.structuredContent).toMatchObject({ constructor: { prototype: { polluted: true } } })
  expect(({} as JsonObject).polluted).toBeUndefined()
  expect(Object.getPrototypeOf(response.structuredContent)).toBe(Object.prototype)
})

test('a result that is nested 100,000 levels deep is cut', async () => {
  const { response } = await callEvil('deep-result')
  expect(JSON.stringify(response).length).toBeLessThan(10_000)
})

test('media become artifacts, once, and the model gets them', async () => {
  const artifactService = new InMemoryArtifactService()
  const { response } = await callEvil('large-image', artifactService)
  expect(response).toMatchObject({ media: ['image/png'] })
  const names = await artifactService.listArtifactKeys({ appName: 'app', userId: 'ada', sessionId: 's-ada' })
  expect(names).toHaveLength(1)
})

describe('progress', () => {
  test('10,000 reports in one call become few events, without the members that the server adds', async () => {
    const seen: unknown[] = []
    await using server = await hostileHttp('progress-flood')
    const { response } = await callOnce({
      connection: server.connection,
      calls: [{ name: 'evil' }],
      options: { onProgress: (progress) => seen.push(progress) },
    })
    expect(response).toEqual({ text: 'done' })
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.length).toBeLessThan(1_000)
    expect(seen[0]).toMatchObject({ tool: 'evil', progress: 0, message: expect.stringMatching(/^m{1000}\.\.\.$/) })
  })

  test('of a known call reaches onProgress and extends its time', async () => {
    const seen: unknown[] = []
    await using server = await hostileHttp('slow-with-progress')
    const { response } = await callOnce({
      connection: server.connection,
      calls: [{ name: 'evil' }],
      options: { callTimeoutMs: 400, onProgress: (progress) => seen.push(progress) },
    })
    expect(response).toEqual({ text: 'done' })
    expect(seen.at(-1)).toEqual({ tool: 'evil', progress: 6, total: 6, message: 'step 6' })
  })
})

test('the page of an MCP App gets data that the model does not see', async () => {
  const { response, model } = await callEvil('app')
  expect(response).toMatchObject({
    structuredContent: { points: [1, 2] },
    _meta: { only: 'for the page', ui: { resourceUri: 'ui://chart/page' } },
  })
  const shown = JSON.stringify(model.requests[1]?.contents)
  expect(shown).toContain('a chart')
  expect(shown).not.toContain('for the page')
})

test('a page that is not a ui:// resource is no MCP App', async () => {
  const { response } = await callEvil('false-app')
  expect(response).toEqual({ text: 'echo {}' })
})
