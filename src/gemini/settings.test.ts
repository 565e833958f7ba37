import { afterEach, describe, expect, test, vi } from 'vitest'
import { gemini } from './gemini.ts'
import type { GeminiOptions } from './options.ts'
import { readSettings } from './settings.ts'

const variables = [
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
  'GOOGLE_GENAI_USE_ENTERPRISE',
  'GOOGLE_GENAI_USE_VERTEXAI',
  'GOOGLE_CLOUD_PROJECT',
  'GOOGLE_CLOUD_LOCATION',
]

function environment(values: Record<string, string> = {}): void {
  for (const name of variables) vi.stubEnv(name, values[name])
}

afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

const accessOf = (options: GeminiOptions = {}): unknown => {
  const { access } = readSettings('gemini-2.5-flash', options)
  return 'options' in access ? access.options : access
}

describe('the key', () => {
  test.each([
    [{ GEMINI_API_KEY: 'from-gemini' }, 'from-gemini'],
    [{ GOOGLE_API_KEY: 'from-google', GEMINI_API_KEY: 'from-gemini' }, 'from-google'],
    [{ GOOGLE_API_KEY: ' ', GEMINI_API_KEY: ' from-gemini ' }, 'from-gemini'],
  ])('%j is %s', (values, apiKey) => {
    environment(values)
    expect(accessOf()).toEqual({ vertexai: false, apiKey })
    expect(accessOf({ apiKey: 'mine' })).toEqual({ vertexai: false, apiKey: 'mine' })
  })

  test.each([{}, { GEMINI_API_KEY: '' }])(
    'that is missing is said when the model is made, with what to set',
    (values) => {
      environment(values)
      expect(() => gemini('gemini-2.5-flash')).toThrow(
        expect.objectContaining({
          code: 'INVALID_CONFIG',
          message: expect.stringMatching(/"gemini-2.5-flash".*GEMINI_API_KEY.*\{ apiKey \}/),
        }),
      )
      expect(() => gemini('gemini-2.5-flash', { apiKey: '  ' })).toThrow('GEMINI_API_KEY')
    },
  )

  test('is looked for where there is no process, and not found', () => {
    vi.stubGlobal('process', undefined)
    expect(() => gemini('gemini-2.5-flash')).toThrow('GEMINI_API_KEY')
    expect(gemini('gemini-2.5-flash', { apiKey: 'mine' }).name).toBe('gemini-2.5-flash')
  })
})

describe('Vertex AI', () => {
  test.each<[string, Record<string, string>, GeminiOptions, object]>([
    [
      'by the environment',
      { GOOGLE_GENAI_USE_VERTEXAI: 'true', GOOGLE_CLOUD_PROJECT: 'p', GOOGLE_CLOUD_LOCATION: 'l', GEMINI_API_KEY: 'k' },
      {},
      { project: 'p', location: 'l' },
    ],
    [
      'anywhere',
      { GOOGLE_GENAI_USE_VERTEXAI: '1', GOOGLE_CLOUD_PROJECT: 'p' },
      {},
      { project: 'p', location: 'global' },
    ],
    [
      'by its newer name',
      { GOOGLE_GENAI_USE_ENTERPRISE: 'true', GOOGLE_CLOUD_PROJECT: 'p' },
      {},
      { project: 'p', location: 'global' },
    ],
    ['by the project', {}, { project: 'mine', location: 'l' }, { project: 'mine', location: 'l' }],
    ['with a key alone', { GOOGLE_GENAI_USE_VERTEXAI: 'true', GOOGLE_API_KEY: 'k' }, {}, { apiKey: 'k' }],
    ['with a key of mine', { GOOGLE_CLOUD_PROJECT: 'p' }, { vertexai: true, apiKey: 'mine' }, { apiKey: 'mine' }],
    [
      'with a key in a project',
      {},
      { vertexai: true, apiKey: 'mine', project: 'p' },
      { apiKey: 'mine', project: 'p', location: 'global' },
    ],
  ])('%s', (_, values, options, expected) => {
    environment(values)
    expect(accessOf(options)).toEqual({ vertexai: true, ...expected })
  })

  test('without a project or a key says what to set', () => {
    environment({ GOOGLE_GENAI_USE_VERTEXAI: 'true' })
    expect(() => gemini('gemini-2.5-flash')).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining('GOOGLE_CLOUD_PROJECT') }),
    )
  })

  test('is not meant where it says so', () => {
    environment({ GOOGLE_GENAI_USE_VERTEXAI: 'true', GOOGLE_CLOUD_PROJECT: 'p', GEMINI_API_KEY: 'k' })
    expect(accessOf({ vertexai: false })).toEqual({ vertexai: false, apiKey: 'k' })
    environment({ GOOGLE_GENAI_USE_VERTEXAI: 'false', GEMINI_API_KEY: 'k' })
    expect(accessOf()).toEqual({ vertexai: false, apiKey: 'k' })
  })

  test('has tools the Gemini API has not', () => {
    environment()
    const has = (options: GeminiOptions) =>
      gemini('gemini-2.5-flash', options).capabilities?.serverTools?.includes('vertexAiSearch')
    expect([has({ project: 'p' }), has({ apiKey: 'k' })]).toEqual([true, false])
  })
})

test.each<[string, string, GeminiOptions]>([
  ['no name', '', {}],
  ['no attempt', 'g', { retry: { attempts: 0 } }],
  ['half an attempt', 'g', { retry: { attempts: 1.5 } }],
  ['a pause in the past', 'g', { retry: { delayMs: -1 } }],
  ['a longest pause that is shorter', 'g', { retry: { delayMs: 500, maxDelayMs: 100 } }],
  ['a pause nobody waits for', 'g', { retry: { maxDelayMs: 60_001 } }],
  ['a time that is no time', 'g', { timeoutMs: Number.NaN }],
])('%s is refused when the model is made', (_, name, options) => {
  expect(() => gemini(name, { apiKey: 'k', ...options })).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
})

test('what a model can do may be told', () => {
  const capabilities = { toolsWithOutputSchema: true, serverTools: [] }
  expect(gemini('tunedModels/mine', { apiKey: 'k', capabilities }).capabilities).toBe(capabilities)
})
