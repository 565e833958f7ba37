import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import { partsOf } from '../../../engine/context/result-parts.ts'
import { MAX_MEDIA_LENGTH } from '../limits.ts'
import type { ServerTool } from '../listing/server-tool.ts'
import { readContent, readResult, withoutAppMeta } from './read-result.ts'

const tool = { name: 'sum', outputSchema: undefined, resourceUri: undefined } as ServerTool
const text = (value: string): JsonObject => ({ type: 'text', text: value })
const image = (data: string): JsonObject => ({ type: 'image', mimeType: 'image/png', data })

test('joins texts, and keeps links and resources', () => {
  const content = [
    text('a'),
    text('b'),
    { type: 'resource_link', uri: 'memo://1', name: 'one', evil: { deep: 1 } },
    { type: 'resource', resource: { uri: 'memo://2', text: 'two', evil: 1 } },
  ]
  expect(readResult(tool, { content })).toEqual({
    text: 'a\nb',
    links: [{ uri: 'memo://1', name: 'one' }],
    resources: [{ uri: 'memo://2', text: 'two' }],
  })
})

describe('media', () => {
  test('become parts beside the response', () => {
    const result = readResult(tool, { content: [image('QUJD')] })
    expect(result).toEqual({ media: ['image/png'] })
    expect(partsOf(result)).toEqual([{ inlineData: { mimeType: 'image/png', data: 'QUJD' } }])
  })

  test.each([
    ['is no base64', image('not base64')],
    ['is not text', { ...image(''), data: 5 }],
    ['has a strange type', { ...image('QUJD'), mimeType: 'text/html\r\nx: y' }],
    ['is too large', image('QUJD'.repeat(MAX_MEDIA_LENGTH / 4 + 1))],
  ])('that %s are left out', (_, block) => {
    const result = readResult(tool, { content: [block, text('beside')] })
    expect(result).toEqual({ text: 'beside', leftOut: expect.stringContaining('1 parts') })
    expect(partsOf(result)).toBeUndefined()
  })

  test('of resources become parts, too', () => {
    const resource = { uri: 'memo://1', blob: 'QUJD', mimeType: 'application/pdf' }
    expect(partsOf(readContent([{ type: 'resource', resource }]))).toHaveLength(1)
  })
})

test.each([[null], ['text'], [5], [undefined], [[]]])('a result that is %j is an error', (result) => {
  expect(() => readResult(tool, result)).toThrow('Tool "sum" returned no result object.')
})

test('content that is no list, and blocks that are no objects, do no harm', () => {
  expect(readResult(tool, { content: 'x' })).toEqual({ status: 'completed' })
  expect(readResult(tool, { content: [null, 5, {}] })).toEqual({ leftOut: expect.stringContaining('3 parts') })
})

test('a text that repeats the structured content is left out', () => {
  const structuredContent = { sum: 3, of: [1, 2] }
  const repeated = [text('{"of": [1, 2], "sum": 3}')]
  expect(readResult(tool, { content: repeated, structuredContent })).toEqual({ structuredContent })
  expect(readResult(tool, { content: [text('three')], structuredContent })).toEqual({
    text: 'three',
    structuredContent,
  })
})

test('structured content must match the schema of the tool', () => {
  const outputSchema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }
  const strict = { ...tool, outputSchema } as ServerTool
  expect(readResult(strict, { content: [], structuredContent: { sum: 3 } })).toEqual({ structuredContent: { sum: 3 } })
  expect(() => readResult(strict, { content: [], structuredContent: { sum: 'x' } })).toThrow('sum: expected number')
})

test('an error result throws its text', () => {
  expect(() => readResult(tool, { isError: true, content: [text('full')] })).toThrow('full')
})

test('the model does not see the data of a page', () => {
  const app = { ...tool, resourceUri: 'ui://page' } as ServerTool
  const result = readResult(app, { content: [text('x')], _meta: { secret: 1, ui: { resourceUri: 'https://evil' } } })
  expect(result._meta).toEqual({ secret: 1, ui: { resourceUri: 'ui://page' } })
  expect(withoutAppMeta({ result })).toEqual({ text: 'x' })
})
