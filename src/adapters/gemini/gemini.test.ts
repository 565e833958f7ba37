import { describe, expect, test } from 'vitest'
import { API_VERSION, ask, KEY, model, streamedText, tool, user } from './gemini.test-kit.ts'

describe('a reply of Gemini', () => {
  test('is one complete response without streaming', async () => {
    const { whole, deltas, requests } = await ask(['Hello.'])
    expect(whole).toEqual({
      content: { role: 'model', parts: [{ text: 'Hello.' }] },
      finishReason: 'STOP',
      modelVersion: 'gemini-2.5-flash',
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
      customMetadata: { gemini: { responseId: 'response-1' } },
    })
    expect(deltas).toEqual([])
    expect(requests[0]).toMatchObject({
      path: `/${API_VERSION}/models/gemini-2.5-flash:generateContent`,
      headers: { 'x-goog-api-key': KEY },
    })
  })

  test('is streamed as deltas and then a complete response', async () => {
    const asked = await ask([{ chunks: ['Hel', 'lo', ' there.'] }], { stream: true })
    expect(streamedText(asked)).toBe('Hel|lo| there.')
    expect(asked.deltas.every(({ partial, finishReason }) => partial && finishReason === undefined)).toBe(true)
    expect(asked.whole).toMatchObject({
      content: model('Hello there.'),
      finishReason: 'STOP',
      usageMetadata: { totalTokenCount: 8 },
    })
    expect(asked.requests[0]).toMatchObject({ query: { alt: 'sse' }, isStream: true })
  })

  test.each([1, 2, 7])('is the same when it arrives in pieces of %i bytes', async (dripBytes) => {
    const asked = await ask([{ chunks: ['Grüße 👋 ', 'aus København'], dripBytes }], { stream: true })
    expect(asked.whole?.content).toEqual(model('Grüße 👋 aus København'))
  })

  test('has its calls in order, with an id only where Gemini sent one', async () => {
    const calls = [{ name: 'a', args: { x: 1 }, id: 'one' }, { name: 'b' }, { name: 'a', args: { x: 2 } }]
    for (const stream of [false, true]) {
      const { whole } = await ask([{ text: 'Looking.', calls }], { stream })
      expect(whole?.content?.parts).toEqual([
        { text: 'Looking.' },
        { functionCall: { id: 'one', name: 'a', args: { x: 1 } } },
        { functionCall: { name: 'b', args: {} } },
        { functionCall: { name: 'a', args: { x: 2 } } },
      ])
    }
  })

  test('keeps thoughts separate and each signature on its part', async () => {
    const chunks = [
      [{ text: 'Hm, ', thought: true }],
      [{ text: 'well.', thought: true }],
      'It ',
      'is ',
      [{ text: 'so', thoughtSignature: 'c2ln' }],
      '.',
      [{ text: '', thoughtSignature: 'ZW5k' }],
      [
        { functionCall: { name: 'a', args: {} }, thoughtSignature: 'Y2FsbA==' },
        { functionCall: { name: 'b', args: {} } },
      ],
    ]
    const { whole } = await ask([{ chunks }], { stream: true })
    expect(whole?.content?.parts).toEqual([
      { text: 'Hm, well.', thought: true },
      { text: 'It is ' },
      { text: 'so', thoughtSignature: 'c2ln' },
      { text: '.' },
      { text: '', thoughtSignature: 'ZW5k' },
      { functionCall: { name: 'a', args: {} }, thoughtSignature: 'Y2FsbA==' },
      { functionCall: { name: 'b', args: {} } },
    ])
  })

  test('has media and the code that Gemini ran', async () => {
    const parts = [
      { inlineData: { mimeType: 'image/png', data: 'cG5n' } },
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK' as const, output: '1\n' } },
    ]
    const { whole } = await ask([{ parts, text: 'One.' }])
    expect(whole?.content?.parts).toEqual([...parts, { text: 'One.' }])
  })

  test('has grounding metadata, citations and safety ratings', async () => {
    const rating = { category: 'HARM_CATEGORY_HARASSMENT', probability: 'LOW' }
    const candidate = {
      groundingMetadata: { groundingChunks: [{ web: { uri: 'https://example.com' } }] },
      citationMetadata: { citationSources: [{ uri: 'https://example.com', startIndex: 0 }] },
      safetyRatings: [rating],
      urlContextMetadata: { urlMetadata: [] },
    }
    const early = { candidates: [{ index: 0, groundingMetadata: { webSearchQueries: ['oslo'] } }] }
    const { whole } = await ask([{ chunks: [early, 'Cold.'], candidate }], { stream: true })
    expect(whole).toMatchObject({
      content: model('Cold.'),
      groundingMetadata: { webSearchQueries: ['oslo'], groundingChunks: [{ web: { uri: 'https://example.com' } }] },
      citationMetadata: { citations: [{ uri: 'https://example.com', startIndex: 0 }] },
      customMetadata: { gemini: { safetyRatings: [rating], urlContextMetadata: { urlMetadata: [] } } },
    })
  })
})

describe('an unusual reply of Gemini', () => {
  const frame = (candidate: object) => ({ candidates: [candidate] })

  test.each([
    [
      'null parts',
      { content: { parts: [null, { text: 'Hi', functionCall: null }] }, finishReason: 'STOP' },
      [{ text: 'Hi' }],
    ],
    [
      'a call without arguments',
      { content: { parts: [{ functionCall: { name: 'a' } }] }, finishReason: 'STOP' },
      [{ functionCall: { name: 'a', args: {} } }],
    ],
    [
      'a call whose arguments are null',
      { content: { parts: [{ functionCall: { name: 'a', args: null, id: '' } }] }, finishReason: 'STOP' },
      [{ functionCall: { name: 'a', args: {} } }],
    ],
    [
      'a call whose arguments are a list',
      { content: { parts: [{ functionCall: { name: 'a', args: [1] } }] }, finishReason: 'STOP' },
      [{ functionCall: { name: 'a', args: {} } }],
    ],
    [
      'a part that only has a signature',
      { content: { parts: [{ text: 'Hi' }, { thoughtSignature: 'c2ln' }] }, finishReason: 'STOP' },
      [{ text: 'Hi' }, { text: '', thoughtSignature: 'c2ln' }],
    ],
    ['no finish reason', { content: { parts: [{ text: 'Hi' }] } }, [{ text: 'Hi' }]],
  ])('with %s is accepted', async (_, candidate, parts) => {
    for (const stream of 'finishReason' in candidate ? [false, true] : [false]) {
      const { whole, error } = await ask([{ chunks: [frame(candidate)] }], { stream })
      expect(error).toBeUndefined()
      expect(whole?.content).toEqual({ role: 'model', parts })
    }
  })

  test('with several candidates uses the first', async () => {
    const candidates = [
      { index: 1, content: { parts: [{ text: 'Second' }] }, finishReason: 'SAFETY' },
      { index: 0, content: { parts: [{ text: 'First' }] }, finishReason: 'STOP' },
    ]
    const { whole } = await ask([{ chunks: [{ candidates }] }])
    expect(whole).toMatchObject({ content: model('First'), finishReason: 'STOP' })
  })

  test('of two thousand chunks is joined', async () => {
    const chunks = Array.from({ length: 2_000 }, (_, at) => `${at} `)
    const { whole } = await ask([{ chunks }], { stream: true })
    expect(whole?.content).toEqual(model(chunks.join('')))
  })
})

describe('an error response of Gemini', () => {
  test('names the reason a prompt was blocked', async () => {
    const promptFeedback = { blockReason: 'SAFETY', safetyRatings: [{ category: 'X', blocked: true }] }
    for (const stream of [false, true]) {
      const { whole } = await ask([{ chunks: [{ promptFeedback, usageMetadata: { totalTokenCount: 4 } }] }], { stream })
      expect(whole).toMatchObject({
        errorCode: 'SAFETY',
        errorMessage: expect.stringContaining('safetySettings'),
        usageMetadata: { totalTokenCount: 4 },
        customMetadata: { gemini: { promptFeedback } },
      })
      expect(whole?.content).toBeUndefined()
    }
  })

  test.each([
    ['SAFETY', 'safetySettings'],
    ['RECITATION', 'quoted a source'],
    ['PROHIBITED_CONTENT', 'cannot be changed'],
    ['IMAGE_SAFETY', 'safetySettings'],
    ['SOMETHING_NEW', 'SOMETHING_NEW'],
  ])('explains the finish reason %s', async (finishReason, advice) => {
    const { whole } = await ask([{ finishReason }], { stream: true })
    expect(whole).toMatchObject({
      errorCode: finishReason,
      finishReason,
      errorMessage: expect.stringContaining(advice),
    })
  })

  test('contains the text that arrived before the reply was stopped', async () => {
    const { whole } = await ask([{ text: 'Once upon', finishReason: 'RECITATION' }])
    expect(whole).toMatchObject({ content: model('Once upon'), errorCode: 'RECITATION' })
  })

  test('reports MAX_TOKENS only when the reply has no visible text', async () => {
    const cut = await ask([{ text: 'Once upon', finishReason: 'MAX_TOKENS' }])
    expect(cut.whole).toMatchObject({ content: model('Once upon'), finishReason: 'MAX_TOKENS' })
    expect(cut.whole?.errorCode).toBeUndefined()
    const silent = await ask([{ parts: [{ text: 'Hm', thought: true }], finishReason: 'MAX_TOKENS' }])
    expect(silent.whole).toMatchObject({
      errorCode: 'MAX_TOKENS',
      errorMessage: expect.stringContaining('maxOutputTokens'),
    })
  })
})

describe('a request to Vertex AI', () => {
  const options = { vertexai: true, project: 'p', location: 'europe-west1' }

  test('has the project and location in its path', async () => {
    const { whole, requests } = await ask(['Hello.'], { options })
    expect(whole?.content).toEqual(model('Hello.'))
    expect(requests[0]?.path).toBe(
      '/v1beta1/projects/p/locations/europe-west1/publishers/google/models/gemini-2.5-flash:generateContent',
    )
  })

  test('leaves out fields that Vertex AI does not support', async () => {
    const contents = [
      user({ text: 'Look', partMetadata: { a: 1 } }),
      model({ functionCall: { id: 'adk-1', name: 'look', args: {} } }, { toolCall: { id: 'x' } } as object),
      tool({
        functionResponse: {
          id: 'adk-1',
          name: 'look',
          response: { seen: 1 },
          willContinue: true,
          scheduling: 'SILENT',
        },
      }),
    ]
    const { body, error } = await ask(['Done.'], { options, contents })
    expect(error).toBeUndefined()
    expect(body.contents).toEqual([
      user('Look'),
      model({ functionCall: { name: 'look', args: {} } }),
      user({ functionResponse: { name: 'look', response: { seen: 1 } } }),
    ])
  })

  test('can be made with only an API key', async () => {
    const { requests } = await ask(['Hello.'], { options: { vertexai: true } })
    expect(requests[0]).toMatchObject({ isVertex: true, headers: { 'x-goog-api-key': KEY } })
  })
})
