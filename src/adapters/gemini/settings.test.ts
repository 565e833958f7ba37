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

describe('the API key of gemini()', () => {
  test.each([
    [{ GEMINI_API_KEY: 'from-gemini' }, 'from-gemini'],
    [{ GOOGLE_API_KEY: 'from-google', GEMINI_API_KEY: 'from-gemini' }, 'from-google'],
    [{ GOOGLE_API_KEY: ' ', GEMINI_API_KEY: ' from-gemini ' }, 'from-gemini'],
  ])('from %j is %s', (values, apiKey) => {
    environment(values)
    expect(accessOf()).toEqual({ vertexai: false, apiKey })
    expect(accessOf({ apiKey: 'mine' })).toEqual({ vertexai: false, apiKey: 'mine' })
  })

  test.each([{}, { GEMINI_API_KEY: '' }])(
    'is required when the model is created, with an error that says what to set',
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

  test('is only read from the options on platforms without a process', () => {
    vi.stubGlobal('process', undefined)
    expect(() => gemini('gemini-2.5-flash')).toThrow('GEMINI_API_KEY')
    expect(gemini('gemini-2.5-flash', { apiKey: 'mine' }).name).toBe('gemini-2.5-flash')
  })
})

describe('gemini() on Vertex AI', () => {
  test.each<[string, Record<string, string>, GeminiOptions, object]>([
    [
      'is chosen by environment variables',
      { GOOGLE_GENAI_USE_VERTEXAI: 'true', GOOGLE_CLOUD_PROJECT: 'p', GOOGLE_CLOUD_LOCATION: 'l', GEMINI_API_KEY: 'k' },
      {},
      { project: 'p', location: 'l' },
    ],
    [
      'has the default location global',
      { GOOGLE_GENAI_USE_VERTEXAI: '1', GOOGLE_CLOUD_PROJECT: 'p' },
      {},
      { project: 'p', location: 'global' },
    ],
    [
      'is chosen by GOOGLE_GENAI_USE_ENTERPRISE',
      { GOOGLE_GENAI_USE_ENTERPRISE: 'true', GOOGLE_CLOUD_PROJECT: 'p' },
      {},
      { project: 'p', location: 'global' },
    ],
    ['is chosen by the option project', {}, { project: 'mine', location: 'l' }, { project: 'mine', location: 'l' }],
    [
      'uses only an API key in express mode',
      { GOOGLE_GENAI_USE_VERTEXAI: 'true', GOOGLE_API_KEY: 'k' },
      {},
      { apiKey: 'k' },
    ],
    [
      'prefers the option apiKey to the project of the environment',
      { GOOGLE_CLOUD_PROJECT: 'p' },
      { vertexai: true, apiKey: 'mine' },
      { apiKey: 'mine' },
    ],
    [
      'uses both a key and a project if both are options',
      {},
      { vertexai: true, apiKey: 'mine', project: 'p' },
      { apiKey: 'mine', project: 'p', location: 'global' },
    ],
  ])('%s', (_, values, options, expected) => {
    environment(values)
    expect(accessOf(options)).toEqual({ vertexai: true, ...expected })
  })

  test('requires a project or a key, with an error that says what to set', () => {
    environment({ GOOGLE_GENAI_USE_VERTEXAI: 'true' })
    expect(() => gemini('gemini-2.5-flash')).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining('GOOGLE_CLOUD_PROJECT') }),
    )
  })

  test('is not used when the option or the variable is false', () => {
    environment({ GOOGLE_GENAI_USE_VERTEXAI: 'true', GOOGLE_CLOUD_PROJECT: 'p', GEMINI_API_KEY: 'k' })
    expect(accessOf({ vertexai: false })).toEqual({ vertexai: false, apiKey: 'k' })
    environment({ GOOGLE_GENAI_USE_VERTEXAI: 'false', GEMINI_API_KEY: 'k' })
    expect(accessOf()).toEqual({ vertexai: false, apiKey: 'k' })
  })

  test('has server tools that the Gemini API does not have', () => {
    environment()
    const has = (options: GeminiOptions) =>
      gemini('gemini-2.5-flash', options).capabilities?.serverTools?.includes('vertexAiSearch')
    expect([has({ project: 'p' }), has({ apiKey: 'k' })]).toEqual([true, false])
  })
})

test.each<[string, string, GeminiOptions]>([
  ['an empty name', '', {}],
  ['zero attempts', 'g', { retry: { attempts: 0 } }],
  ['a fraction of an attempt', 'g', { retry: { attempts: 1.5 } }],
  ['a negative delayMs', 'g', { retry: { delayMs: -1 } }],
  ['a maxDelayMs below delayMs', 'g', { retry: { delayMs: 500, maxDelayMs: 100 } }],
  ['a maxDelayMs above a minute', 'g', { retry: { maxDelayMs: 60_001 } }],
  ['a timeoutMs that is NaN', 'g', { timeoutMs: Number.NaN }],
])('gemini() rejects %s when the model is created', (_, name, options) => {
  expect(() => gemini(name, { apiKey: 'k', ...options })).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
})

test('gemini() uses the given capabilities', () => {
  const capabilities = { toolsWithOutputSchema: true, serverTools: [] }
  expect(gemini('tunedModels/mine', { apiKey: 'k', capabilities }).capabilities).toBe(capabilities)
})
