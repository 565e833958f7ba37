import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../core/base/json.ts'
import type { GeminiScript, GeminiServerOptions } from './gemini-script.ts'
import { geminiServer } from './gemini-server.ts'

const user = (text: string) => ({ role: 'user', parts: [{ text }] })
const model = (...parts: object[]) => ({ role: 'model', parts })
const call = (name: string, more = {}) => ({ functionCall: { name, args: {} }, ...more })
const response = (name: string, more = {}) => ({ functionResponse: { name, response: {}, ...more } })
const old = '/v1beta/models/gemini-2.5-flash'
const vertex = '/v1beta1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash'

async function ask(url: string, body: object, init: RequestInit = {}): Promise<Response> {
  const headers = { 'x-goog-api-key': 'any' }
  return await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), ...init })
}

/** Starts a server, sends one request and returns status and body. */
async function askOnce(
  script: GeminiScript,
  body: object,
  { path = `${old}:generateContent`, ...options }: GeminiServerOptions & { path?: string } = {},
): Promise<{ status: number; body: JsonObject & { error?: { message: string; status: string; details: unknown } } }> {
  await using server = await geminiServer(script, options)
  const answer = await ask(`${server.url}${path}`, body)
  return { status: answer.status, body: (await answer.json()) as JsonObject }
}

describe('geminiServer', () => {
  test('sends the script in order on both paths and records the requests', async () => {
    await using server = await geminiServer(['Hello.', { calls: [{ name: 'look' }] }, (request) => request.model])
    const whole = await ask(`${server.url}${old}:generateContent`, { contents: [user('Hi')] })
    expect(await whole.json()).toMatchObject({
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP' }],
      usageMetadata: { totalTokenCount: 8 },
    })
    const called = await ask(`${server.url}${vertex}:generateContent`, { contents: [user('Look')] })
    expect(await called.json()).toMatchObject({
      candidates: [{ content: { parts: [{ functionCall: { name: 'look', args: {} } }] } }],
    })
    const streamed = await ask(`${server.url}${old}:streamGenerateContent?alt=sse`, { contents: [user('Who?')] })
    expect(streamed.headers.get('content-type')).toBe('text/event-stream')
    expect(await streamed.text()).toMatch(/^data: \{.*"text":"gemini-2.5-flash".*"finishReason":"STOP".*\}\r\n\r\n$/)
    expect(server.requests.map(({ isStream, isVertex, query }) => [isStream, isVertex, query])).toEqual([
      [false, false, {}],
      [false, true, {}],
      [true, false, { alt: 'sse' }],
    ])
    expect(server.requests[0]).toMatchObject({ body: { contents: [user('Hi')] }, headers: { 'x-goog-api-key': 'any' } })
    server.assertComplete()
  })

  test('sends chunks one by one, or as one content without streaming', async () => {
    const reply = { chunks: ['Hel', [{ text: 'lo', thoughtSignature: 'c2ln' }], { candidates: [] }] }
    await using server = await geminiServer([reply, reply])
    const streamed = await ask(`${server.url}${old}:streamGenerateContent?alt=sse`, { contents: [user('Hi')] })
    expect((await streamed.text()).match(/^data: /gm)).toHaveLength(3)
    const whole = await ask(`${server.url}${old}:generateContent`, { contents: [user('Hi')] })
    const { candidates } = (await whole.json()) as { candidates: { content: unknown }[] }
    expect(candidates[0]?.content).toEqual(model({ text: 'Hel' }, { text: 'lo', thoughtSignature: 'c2ln' }))
  })

  test('rejects a request after the last step and reports unused steps', async () => {
    const { status, body } = await askOnce([], { contents: [user('Hi')] })
    expect([status, body.error?.message]).toEqual([
      400,
      'geminiServer() has no step for this request: the script has 0 steps. Add a step.',
    ])
    await using server = await geminiServer(['never said'])
    expect(() => server.assertComplete()).toThrow('geminiServer() has 1 unused steps of 1')
  })

  test('rejects an unknown key, model or path', async () => {
    const contents = [user('Hi')]
    const wrong = await askOnce(['never'], { contents }, { apiKey: 'right' })
    expect([wrong.status, wrong.body.error?.details]).toEqual([
      400,
      [expect.objectContaining({ reason: 'API_KEY_INVALID' })],
    ])
    const none = await askOnce(['never'], { contents }, { models: ['gemini-9'] })
    expect([none.status, none.body.error?.status]).toEqual([404, 'NOT_FOUND'])
    const lost = await askOnce(['never'], { contents }, { path: `${old}:countTokens` })
    expect(lost.status).toBe(404)
    await using server = await geminiServer(['never'])
    const bare = await ask(`${server.url}${old}:generateContent`, { contents }, { headers: {} })
    expect(bare.status).toBe(403)
    const broken = await ask(`${server.url}${old}:generateContent`, {}, { body: '{' })
    expect(broken.status).toBe(400)
  })
})

describe('geminiServer fault', () => {
  const contents = [user('Hi')]

  test('status sends its header and details', async () => {
    const fault = { type: 'status', status: 429, retryAfter: 7, retryDelay: '1.5s' } as const
    await using server = await geminiServer([{ fault }])
    const answer = await ask(`${server.url}${old}:generateContent`, { contents })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7'])
    expect(await answer.json()).toMatchObject({
      error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '1.5s' }] },
    })
  })

  test.each([
    ['error-event', { type: 'error-event', status: 503, after: 1 }, /^data: .*one.*\r\n\r\ndata: {"error":{"code":503/],
    ['malformed', { type: 'malformed', after: 1 }, /^data: .*one.*\r\n\r\ndata: {"candidates": \[{"content"\r\n\r\n$/],
    ['unfinished', { type: 'unfinished' }, /^(?!.*finishReason)[\s\S]*one[\s\S]*two/],
    ['empty', { type: 'empty' }, /^$/],
  ] as const)('%s changes the stream', async (_, fault, expected) => {
    await using server = await geminiServer([{ chunks: ['one', 'two'], fault }])
    const answer = await ask(`${server.url}${old}:streamGenerateContent?alt=sse`, { contents })
    expect(await answer.text()).toMatch(expected)
  })

  test('cut breaks the connection after the chunks that were sent', async () => {
    await using server = await geminiServer([{ chunks: ['one', 'two'], fault: { type: 'cut', after: 1 } }])
    const answer = await ask(`${server.url}${old}:streamGenerateContent?alt=sse`, { contents })
    let read = ''
    const reading = async () => {
      for await (const piece of answer.body ?? []) read += new TextDecoder().decode(piece)
    }
    await expect(reading()).rejects.toThrow()
    expect(read).toContain('one')
    expect(read).not.toMatch(/two[\s\S]*\r\n\r\n/)
  })

  test('hang ends when the client disconnects, and aborts the request signal', async () => {
    await using server = await geminiServer([{ fault: { type: 'hang' } }])
    const leave = new AbortController()
    const answer = await ask(
      `${server.url}${old}:streamGenerateContent?alt=sse`,
      { contents },
      { signal: leave.signal },
    )
    const { signal } = server.requests[0] ?? {}
    expect(signal?.aborted).toBe(false)
    const gone = new Promise((resolve) => signal?.addEventListener('abort', resolve))
    leave.abort()
    await gone
    await expect(answer.text()).rejects.toThrow()
  })

  test('dripBytes splits lines and characters', async () => {
    await using server = await geminiServer([{ text: 'Grüße 👋', dripBytes: 1 }])
    const answer = await ask(`${server.url}${old}:streamGenerateContent?alt=sse`, { contents })
    const pieces: Uint8Array[] = []
    for await (const piece of answer.body ?? []) pieces.push(piece)
    expect(pieces.some((piece) => piece.length === 1 && (piece[0] ?? 0) > 127)).toBe(true)
    expect(Buffer.concat(pieces).toString()).toContain('Grüße 👋')
  })
})

describe('geminiServer request rules', () => {
  const looked = [user('Look'), model(call('look')), { role: 'user', parts: [response('look')] }]
  const signed = [user('Look'), model(call('look', { thoughtSignature: 'c2ln' })), looked[2]]
  const functions = { functionDeclarations: [{ name: 'look', description: 'Look' }] }
  const declare = (parametersJsonSchema: unknown) => ({
    contents: [user('Hi')],
    tools: [{ functionDeclarations: [{ name: 'look', description: 'Look', parametersJsonSchema }] }],
  })
  const property = (schema: object) => declare({ type: 'object', properties: { x: schema } })
  const newer = '/v1beta/models/gemini-3-flash:generateContent'

  test.each<[string, object, RegExp, string?]>([
    ['empty contents', { contents: [] }, /contents is not specified/],
    ['the role tool', { contents: [{ role: 'tool', parts: [{ text: 'x' }] }] }, /valid role: user, model/],
    ['no parts', { contents: [{ role: 'user', parts: [] }] }, /must not be empty/],
    ['an empty text', { contents: [user('')] }, /text is empty/],
    ['a part without data', { contents: [{ role: 'user', parts: [{ thought: true }] }] }, /oneof field 'data'/],
    ['an unknown field', { contents: [{ role: 'user', parts: [{ text: 'x', partMetadata: {} }] }] }, /"partMetadata"/],
    ['a model turn first', { contents: [model({ text: 'Hi' }), user('Hi')] }, /begin with a user turn/],
    ['a model turn last', { contents: [user('Hi'), model({ text: 'Hi' })] }, /end with a user turn/],
    ['a call after a model turn', { contents: [user('Hi'), model({ text: 'Hm' }), looked[1], looked[2]] }, /call turn/],
    ['a call without a response', { contents: [user('Hi'), looked[1], user('Well?')] }, /number of function response/],
    ['a response without a call', { contents: [user('Hi'), looked[2]] }, /response turn comes immediately after/],
    [
      'a result that refers to nothing',
      { contents: [looked[0], looked[1], { role: 'user', parts: [response('look', { response: { $ref: '#/a' } })] }] },
      /`#\/a` in function_response.response/,
    ],
    ['a missing signature', { contents: looked }, /missing a thought_signature/, newer],
    [
      'built-in tools beside functions',
      { contents: looked, tools: [functions, { googleSearch: {} }] },
      /\{googleSearch\}.*cannot be/,
    ],
    [
      'mixed tools without the option',
      { contents: signed, tools: [functions, { urlContext: {} }] },
      /Please enable/,
      newer,
    ],
    ['mixed tools on Vertex', { contents: looked, tools: [functions, { urlContext: {} }] }, /all search tools/, vertex],
    [
      'willContinue',
      { contents: [looked[0], looked[1], { role: 'user', parts: [response('look', { willContinue: true })] }] },
      /"willContinue"/,
      vertex,
    ],
    ['a cache and tools', { contents: looked, cachedContent: 'c', tools: [functions] }, /CachedContent can not/],
    [
      'JSON and functions',
      { contents: looked, tools: [functions], generationConfig: { responseMimeType: 'application/json' } },
      /mime type/,
    ],
    [
      'a behavior',
      { contents: looked, tools: [{ functionDeclarations: [{ name: 'a', behavior: 'BLOCKING' }] }] },
      /behavior/,
    ],
    ['parameters that are not an object', declare({ type: 'string' }), /type OBJECT/],
    ['const', property({ const: 1 }), /Unknown name "const" at .*properties\[x\]/],
    ['a boolean schema', declare({ type: 'object', properties: { x: true } }), /a schema must be an object/],
    ['two types', property({ type: ['string', 'number'] }), /one type/],
    ['a format', property({ type: 'string', format: 'email' }), /format: only/],
    ['an enum of booleans', property({ enum: [true] }), /enum: only/],
    ['anyOf beside others', property({ anyOf: [{ type: 'null' }], type: 'string' }), /alongside any_of/],
    [
      'an undeclared required property',
      declare({ type: 'object', properties: {}, required: ['x'] }),
      /"x" is not defined/,
    ],
    ['an unresolved reference', property({ $ref: '#/$defs/a' }), /undefined schema/],
    ['a reference beside others', property({ $ref: '#/$defs/a', type: 'string' }), /alongside unsupported fields/],
    ['tuples of draft 7', property({ type: 'array', items: [{ type: 'string' }] }), /a schema must be an object/],
  ])('reject %s', async (_, body, expected, path = `${old}:generateContent`) => {
    const target = path.includes(':') ? path : `${path}:generateContent`
    const { status, body: answer } = await askOnce(['never'], body, { path: target })
    expect(answer.error?.message).toMatch(expected)
    expect([status, answer.error?.status]).toEqual([400, 'INVALID_ARGUMENT'])
  })

  test.each<[string, object, string?]>([
    ['a call and its response', { contents: looked }],
    ['a signed call', { contents: signed }, newer],
    ['an unsigned call of an earlier turn', { contents: [...looked, model({ text: 'Done' }), user('Thanks')] }, newer],
    [
      'mixed tools with the option',
      {
        contents: signed,
        tools: [functions, { googleSearch: {} }],
        toolConfig: { includeServerSideToolInvocations: true },
      },
      newer,
    ],
    [
      'an empty text with a signature',
      { contents: [user('Hi'), model({ text: '', thoughtSignature: 'c2ln' }), user('Hi')] },
    ],
    [
      'a result that refers to its media',
      {
        contents: [
          looked[0],
          looked[1],
          {
            role: 'user',
            parts: [
              response('look', {
                response: { image: { $ref: 'a.png' } },
                parts: [{ inlineData: { mimeType: 'image/png', data: '', displayName: 'a.png' } }],
              }),
            ],
          },
        ],
      },
    ],
    [
      'a complete schema',
      declare({
        type: 'object',
        properties: {
          x: { $ref: '#/$defs/x' },
          y: { type: ['array', 'null'], items: { anyOf: [{ type: 'string', format: 'date' }, { enum: [1, 2] }] } },
        },
        required: ['x'],
        additionalProperties: false,
        $defs: { x: { type: 'object', additionalProperties: { type: 'string' } } },
      }),
    ],
    [
      'a response schema',
      {
        contents: looked,
        generationConfig: { responseMimeType: 'application/json', responseJsonSchema: { type: 'string' } },
      },
    ],
  ])('accept %s', async (_, body, path) => {
    expect((await askOnce(['fine'], body, path ? { path } : {})).status).toBe(200)
  })

  test('can be overridden per model', async () => {
    const body = { contents: looked, tools: [functions, { googleSearch: {} }] }
    const rules = () => ({ mixesTools: true, needsSignatures: false })
    expect(
      (await askOnce(['fine'], { ...body, toolConfig: { includeServerSideToolInvocations: true } }, { rules })).status,
    ).toBe(200)
  })
})
