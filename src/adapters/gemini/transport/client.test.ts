import { execFileSync } from 'node:child_process'
import { GoogleGenAI } from '@google/genai'
import { expect, test, vi } from 'vitest'
import { geminiServer } from '../../testing/gemini-server.ts'
import { ask, askServer, KEY, model } from '../gemini.test-kit.ts'
import { GeminiError } from '../gemini-error.ts'

test("gemini() uses the key, headers and fetch of the caller's client, but its own retries", async () => {
  await using server = await geminiServer([{ fault: { type: 'status', status: 503 } }, 'Hello.'])
  const fetched: unknown[] = []
  const client = new GoogleGenAI({
    apiKey: 'another key',
    httpOptions: {
      baseUrl: server.url,
      headers: { 'x-mine': 'yes' },
      retryOptions: { attempts: 5 },
      fetch: (input, init) => {
        fetched.push(input)
        return fetch(input, init)
      },
    },
  })
  const { whole, pauses } = await askServer(server, { options: { client } })
  expect(whole?.content).toEqual(model('Hello.'))
  expect(server.requests.map(({ headers }) => [headers['x-goog-api-key'], headers['x-mine']])).toEqual([
    ['another key', 'yes'],
    ['another key', 'yes'],
  ])
  expect([fetched.length, pauses]).toEqual([2, [250]])
})

test("gemini() hides the key of the caller's client in errors", async () => {
  await using server = await geminiServer([], { apiKey: 'right' })
  const client = new GoogleGenAI({ apiKey: 'wrong-key', httpOptions: { baseUrl: `${server.url}/?key=wrong-key` } })
  const { error } = await askServer(server, { options: { client } })
  expect(error).toBeInstanceOf(GeminiError)
  expect(JSON.stringify(chain(error))).not.toContain('wrong-key')
})

const chain = (error: unknown): unknown[] =>
  error instanceof Error ? [error.message, error.stack, ...chain(error.cause)] : []

test('gemini() passes headers, fetch and the API version to a new client', async () => {
  const fetched: unknown[] = []
  const mine: typeof fetch = (input, init) => {
    fetched.push(input)
    return fetch(input, init)
  }
  const options = { headers: { 'x-team': 'search' }, apiVersion: 'v1alpha', fetch: mine }
  const { requests } = await ask(['Hello.'], { options })
  expect(requests[0]).toMatchObject({
    path: '/v1alpha/models/gemini-2.5-flash:generateContent',
    headers: { 'x-team': 'search' },
  })
  expect(fetched).toHaveLength(1)
})

test('gemini() disables the automatic function calling of the client', async () => {
  const callTool = vi.fn()
  const functionDeclarations = [{ name: 'look', description: 'Look.' }]
  const tools = [{ tool: async () => ({ functionDeclarations }), callTool }]
  for (const stream of [false, true]) {
    const { whole } = await ask([{ calls: [{ name: 'look' }] }], { config: { tools }, stream })
    expect(whole?.content).toEqual(model({ functionCall: { name: 'look', args: {} } }))
  }
  expect(callTool).not.toHaveBeenCalled()
})

test('gemini() signs in to Vertex AI with googleAuthOptions', async () => {
  const getRequestHeaders = vi.fn(async () => new Headers({ authorization: 'Bearer token-of-mine' }))
  const googleAuthOptions = { authClient: { getRequestHeaders } } as never // the only method that is called
  const options = { apiKey: undefined, project: 'p', location: 'l', googleAuthOptions }
  const { requests, error } = await ask(['Hello.'], { options })
  expect(error).toBeUndefined()
  expect(requests[0]).toMatchObject({ isVertex: true, headers: { authorization: 'Bearer token-of-mine' } })
  expect(requests[0]?.headers['x-goog-api-key']).toBeUndefined()
})

test('gemini() waits for a silent model longer than the idle timeout of Node', async () => {
  const key = Symbol.for('undici.globalDispatcher.1')
  const world = globalThis as unknown as { [key: symbol]: { dispatch(options: object, handler: object): boolean } }
  await fetch('data:,') // Node creates its dispatcher at the first fetch
  const real = world[key]
  const dispatched: object[] = []
  world[key] = {
    dispatch: (options, handler) => {
      dispatched.push(options)
      return real?.dispatch(options, handler) ?? false
    },
  }
  try {
    await ask(['Hello.'])
  } finally {
    if (real) world[key] = real
  }
  expect(dispatched).toMatchObject([{ headersTimeout: 0, bodyTimeout: 0 }])
})

test('gemini() loads without @google/genai and names the package to install at the first request', () => {
  const program = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier === '@google/genai') throw Object.assign(new Error("Cannot find package '@google/genai'"), { code: 'ERR_MODULE_NOT_FOUND' })
        return next(specifier, context)
      },
    })
    const { gemini } = await import('toolwright/gemini')
    const model = gemini('gemini-2.5-flash', { apiKey: '${KEY}' })
    const request = { contents: [], config: {}, tools: new Map() }
    try {
      for await (const _ of model.generate(request, {}));
    } catch (error) {
      console.log(error.code, error.message)
    }`
  const flags = ['--conditions=toolwright:source', '--input-type=module', '-e', program]
  expect(execFileSync(process.execPath, flags, { encoding: 'utf8' }).trim()).toBe(
    'MISSING_PEER "@google/genai" is not installed. Run: npm i @google/genai',
  )
})
