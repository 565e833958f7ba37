// The model of the examples, with the real provider packages and a local server instead of the provider.
import { expect, test } from 'vitest'
import { anthropic } from '../providers/anthropic.ts'
import { google } from '../providers/google.ts'
import { openaiResponses } from '../providers/openai-responses.ts'
import { ProviderServer } from '../providers/provider-server.ts'
import { node, withoutKeys } from './child.ts'

const key = 'key-0123456789'

const providers = [
  {
    variable: 'GEMINI_API_KEY',
    base: ['GOOGLE_GEMINI_BASE_URL', ''],
    say: google,
    model: 'gemini-2.5-flash',
    path: '/v1beta/models/gemini-2.5-flash:generateContent',
    header: ['x-goog-api-key', key],
  },
  {
    variable: 'GOOGLE_API_KEY',
    base: ['GOOGLE_GEMINI_BASE_URL', ''],
    say: google,
    model: 'gemini-2.5-flash',
    path: '/v1beta/models/gemini-2.5-flash:generateContent',
    header: ['x-goog-api-key', key],
  },
  {
    variable: 'OPENAI_API_KEY',
    base: ['OPENAI_BASE_URL', '/v1'],
    say: openaiResponses,
    model: 'gpt-5-mini',
    path: '/v1/responses',
    header: ['authorization', `Bearer ${key}`],
  },
  {
    variable: 'ANTHROPIC_API_KEY',
    base: ['ANTHROPIC_BASE_URL', '/v1'],
    say: anthropic,
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    header: ['x-api-key', key],
  },
] as const

test.each(providers)(
  'the examples use $model when $variable is set',
  async ({ variable, base: [url, suffix], say, model, path, header }) => {
    const calls = [{ id: 'call_1', name: 'get_weather', args: { city: 'Lima' } }]
    await using server = await ProviderServer.start([say({ calls }), say({ text: 'Mild, says the provider.' })])
    const env = { ...withoutKeys(), [variable]: key, [url]: server.url + suffix }
    const { code, out, errors } = await node(['examples/weather.ts'], { env })
    expect({ code, out, errors }).toEqual({ code: 0, out: 'Mild, says the provider.\n', errors: `Model: ${model}\n` })
    expect(server.requests.map((one) => one.path.split('?')[0])).toEqual([path, path])
    expect(server.requests[0]?.headers[header[0]]).toBe(header[1])
    expect(JSON.stringify(server.requests[1]?.body)).toMatch(/celsius\D+19/) // the request contains the result of the tool
  },
)

test.each(providers)(
  'toolwright run streams from $model when $variable is set',
  async ({ variable, base: [url, suffix], say, model }) => {
    await using server = await ProviderServer.start([say({ text: 'Mild, says the provider.' })])
    const env = { ...withoutKeys(), [variable]: key, [url]: server.url + suffix }
    const args = ['src/apps/cli/index.ts', 'run', '--memory', 'examples/weather.ts', 'How warm is it in Lima?']
    const { code, out, errors } = await node(args, { env })
    expect({ code, out, errors }).toEqual({ code: 0, out: 'Mild, says the provider.\n', errors: `Model: ${model}\n` })
    expect(server.requests.map(({ isStream }) => isStream)).toEqual([true])
  },
)

test('the examples call no provider when the key variables are empty', async () => {
  await using server = await ProviderServer.start([])
  const urls = Object.fromEntries(providers.map(({ base: [url, suffix] }) => [url, server.url + suffix]))
  const env = { ...withoutKeys(), ...urls, GEMINI_API_KEY: '', OPENAI_API_KEY: '' }
  const { code, out, errors } = await node(['examples/weather.ts'], { env })
  expect({ code, out }).toEqual({ code: 0, out: 'It is 66 °F in Lima.\n' })
  expect(errors).toMatch(/^Model: rules, no language model\.\nFor one set GEMINI_API_KEY, /)
  expect(server.requests).toEqual([])
})
