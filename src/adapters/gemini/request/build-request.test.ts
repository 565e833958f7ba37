import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import type { Content, Part } from '../../../core/content/content.ts'
import type { ConfigTool } from '../../../engine/model/llm-request-config.ts'
import { geminiServer } from '../../testing/gemini-server.ts'
import { ask, model, requestOf, tool, user } from '../gemini.test-kit.ts'
import { gemini } from '../gemini.ts'

const declaration = (name: string, parametersJsonSchema?: JsonObject) => ({
  name,
  description: `Does ${name}.`,
  ...(parametersJsonSchema && { parametersJsonSchema }),
})
const functions = (...names: string[]): ConfigTool => ({ functionDeclarations: names.map((name) => declaration(name)) })
const newer = 'gemini-3-flash-preview'

/** The body of a request that Gemini accepted. */
async function told(contents: readonly Content[], question: Parameters<typeof ask>[1] = {}): Promise<Content[]> {
  const { body, error } = await ask(['Fine.'], { contents, ...question })
  expect(error).toBeUndefined()
  return body.contents ?? []
}

describe('a request to Gemini', () => {
  test('sends results with the role user', async () => {
    const contents = [
      user('Look'),
      model({ functionCall: { id: 'c1', name: 'look', args: { at: 1 } } }),
      tool({ functionResponse: { id: 'c1', name: 'look', response: { seen: 1 } } }),
    ]
    expect(await told(contents)).toEqual([
      user('Look'),
      model({ functionCall: { id: 'c1', name: 'look', args: { at: 1 } } }),
      user({ functionResponse: { id: 'c1', name: 'look', response: { seen: 1 } } }),
    ])
  })

  test('starts and ends with a user turn', async () => {
    expect(await told([])).toEqual([user('(The conversation begins here.)')])
    expect(await told([model('Welcome.')])).toEqual([
      user('(The conversation begins here.)'),
      model('Welcome.'),
      user('Continue.'),
    ])
    expect(await told([user('Hi')])).toEqual([user('Hi')])
  })

  test('merges consecutive model turns', async () => {
    const contents = [
      user('Hi'),
      model('Let me see.'),
      model({ functionCall: { name: 'look', args: {} } }),
      tool({ functionResponse: { name: 'look', response: {} } }),
    ]
    const sent = await told(contents)
    expect(sent[1]).toEqual(model('Let me see.', { functionCall: { name: 'look', args: {} } }))
  })

  test('leaves out parts that Gemini does not accept', async () => {
    const contents: Content[] = [
      user('', { inlineData: { mimeType: 'image/png', data: '' } }),
      user('Hi', '', { partMetadata: { a: 1 } }),
      model(),
      model({ text: '', thought: true }),
      model({ text: '', thoughtSignature: 'c2ln' }),
      user({ text: 'Well?', partMetadata: { a: 1 } }),
    ]
    expect(await told(contents)).toEqual([user('Hi'), model({ text: '', thoughtSignature: 'c2ln' }), user('Well?')])
  })

  test('sends thoughts and signatures back on their parts, also after a restart', async () => {
    const reply: Part[] = [
      { text: 'Hm.', thought: true },
      { text: 'Looking.', thoughtSignature: 'dGV4dA==' },
      { functionCall: { id: 'c1', name: 'a', args: {} }, thoughtSignature: 'Y2FsbA==' },
      { functionCall: { id: 'c2', name: 'b', args: {} } },
    ]
    const { whole } = await ask([{ parts: reply }], { name: newer, stream: true })
    const stored: Content = JSON.parse(JSON.stringify(whole?.content))
    const results = tool(
      { functionResponse: { id: 'c1', name: 'a', response: {} } },
      { functionResponse: { id: 'c2', name: 'b', response: {} } },
    )
    expect((await told([user('Go'), stored, results], { name: newer }))[1]).toEqual(model(...reply))
  })

  test('drops signatures from the messages of other agents', async () => {
    const overheard = user(
      'For context:',
      { inlineData: { mimeType: 'image/png', data: 'cG5n' }, thoughtSignature: 'c2ln' },
      { toolCall: { id: 't1' } } as object as Part,
      { executableCode: { language: 'PYTHON', code: 'print(1)' }, thoughtSignature: 'c2ln' },
    )
    expect(await told([overheard], { config: { tools: [{ codeExecution: {} }] } })).toEqual([
      user('For context:', { inlineData: { mimeType: 'image/png', data: 'cG5n' } }, '```python\nprint(1)\n```'),
    ])
  })

  test('sends files and inline data unchanged', async () => {
    const parts: Part[] = [
      { inlineData: { mimeType: 'image/png', data: 'cG5n' } },
      { fileData: { mimeType: 'video/mp4', fileUri: 'gs://b/v' }, videoMetadata: { startOffset: '1s' } },
    ]
    expect(await told([user('What is it?', ...parts)])).toEqual([user('What is it?', ...parts)])
  })

  test('adds a placeholder signature for Gemini 3 to calls of another model', async () => {
    const contents = [
      user('Go'),
      model({ functionCall: { name: 'a', args: {} } }, { functionCall: { name: 'b', args: {} } }),
      tool({ functionResponse: { name: 'a', response: {} } }, { functionResponse: { name: 'b', response: {} } }),
    ]
    const [, called] = await told(contents, { name: newer })
    expect(called?.parts.map((part) => part.thoughtSignature)).toEqual(['skip_thought_signature_validator', undefined])
    const [, before] = await told(contents)
    expect(before?.parts.every((part) => part.thoughtSignature === undefined)).toBe(true)
  })
})

describe('function responses sent to Gemini', () => {
  const image: Part = { inlineData: { mimeType: 'image/png', data: 'cG5n', displayName: 'a.png' } }
  const sound: Part = { inlineData: { mimeType: 'audio/mp3', data: 'bXAz' } }
  const calls = [user('Draw'), model({ functionCall: { name: 'draw', args: {} }, thoughtSignature: 'c2ln' })]
  const drawn = (...parts: Part[]) => [
    ...calls,
    tool({ functionResponse: { name: 'draw', response: { done: true }, parts } }),
  ]

  test('contain their media for Gemini 3, media after the response included', async () => {
    const after = [...calls, tool({ functionResponse: { name: 'draw', response: { done: true } } }, image)]
    for (const contents of [drawn(image), after]) {
      expect((await told(contents, { name: newer })).slice(2)).toEqual([
        user({ functionResponse: { name: 'draw', response: { done: true }, parts: [image] } }),
      ])
    }
  })

  test('are followed by media that cannot be inside a response', async () => {
    const bare = { functionResponse: { name: 'draw', response: { done: true } } }
    expect((await told(drawn(image))).slice(2)).toEqual([user(bare), user('From the result of draw:', image)])
    expect((await told(drawn(image, sound), { name: newer })).slice(2)).toEqual([
      user({ functionResponse: { name: 'draw', response: { done: true }, parts: [image] } }),
      user('From the result of draw:', sound),
    ])
  })

  test('can contain $ref fields that are no media references', async () => {
    const schema = { properties: { a: { $ref: '#/$defs/a' } } }
    const spoken = [...calls, tool({ functionResponse: { name: 'draw', response: schema } })]
    expect((await told(spoken)).at(-1)).toEqual(
      user({ functionResponse: { name: 'draw', response: { output: JSON.stringify(schema) } } }),
    )
    const meant = { functionResponse: { name: 'draw', response: { image: { $ref: 'a.png' } }, parts: [image] } }
    expect((await told([...calls, tool(meant)], { name: newer })).at(-1)).toEqual(user(meant))
  })
})

describe('code sent to Gemini', () => {
  const code: Part = { executableCode: { id: 'adk-1', language: 'PYTHON', code: 'print(1)' } }
  const result: Part = { codeExecutionResult: { id: 'adk-1', outcome: 'OUTCOME_OK', output: '1' } }
  const theirs = model(
    { executableCode: { language: 'PYTHON', code: 'print(1)' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
  )

  test('is sent as text with its result when the code executor ran the code', async () => {
    for (const tools of [[], [{ codeExecution: {} }]]) {
      const sent = await told([user('Count'), model('So:', code), tool(result)], { config: { tools } })
      expect(sent).toEqual([
        user('Count'),
        model('So:', '```python\nprint(1)\n```'),
        user('The code ran and printed:\n```tool_output\n1\n```'),
      ])
    }
  })

  test('next to a call does not separate the call from its result', async () => {
    const contents = [
      user('Count'),
      model(code, { functionCall: { name: 'look', args: {} } }),
      tool(result, { functionResponse: { name: 'look', response: {} } }),
    ]
    const sent = await told(contents)
    expect(sent.slice(2).map(({ parts }) => Object.keys(parts[0] ?? {}))).toEqual([['functionResponse'], ['text']])
  })

  test('that Gemini itself ran is sent unchanged if codeExecution is on, otherwise as text', async () => {
    const contents = [user('Count'), theirs, user('And now?')]
    expect(await told(contents, { config: { tools: [{ codeExecution: {} }] } })).toEqual(contents)
    const [, later] = await told(contents)
    expect(later?.parts.map((part) => Object.keys(part))).toEqual([['text'], ['text']])
  })
})

describe('generateContentConfig of gemini()', () => {
  test('is passed on completely', async () => {
    const config = {
      systemInstruction: 'Be brief.',
      temperature: 0.2,
      topP: 0.9,
      topK: 40,
      maxOutputTokens: 100,
      stopSequences: ['END'],
      seed: 7,
      candidateCount: 1,
      presencePenalty: 0.1,
      thinkingConfig: { includeThoughts: true, thinkingBudget: 512 },
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
      tools: [functions('look')],
      labels: { team: 'search' },
      left: undefined,
    }
    const { body, error } = await ask(['Fine.'], { config })
    expect(error).toBeUndefined()
    const { systemInstruction, safetySettings, toolConfig, labels, tools: _, left: __, ...generation } = config
    expect(body).toMatchObject({
      systemInstruction: { parts: [{ text: systemInstruction }] },
      safetySettings,
      toolConfig,
      labels,
      generationConfig: generation,
    })
  })

  test('is sent without streamFunctionCallArguments', async () => {
    const toolConfig = { functionCallingConfig: { mode: 'AUTO', streamFunctionCallArguments: true } }
    const options = { vertexai: true, project: 'p' }
    const { body } = await ask(['Fine.'], { config: { toolConfig, tools: [functions('look')] }, options })
    expect(body.toolConfig).toEqual({ functionCallingConfig: { mode: 'AUTO' } })
  })

  test('with cachedContent sends no instruction and tools', async () => {
    const config = {
      cachedContent: 'cachedContents/one',
      systemInstruction: 'Be brief.',
      tools: [functions('look')],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
      temperature: 0,
    }
    const { body, error } = await ask(['Fine.'], { config })
    expect(error).toBeUndefined()
    expect(body).toMatchObject({ cachedContent: 'cachedContents/one', generationConfig: { temperature: 0 } })
    expect([body.systemInstruction, body.tools, body.toolConfig]).toEqual([undefined, undefined, undefined])
  })

  test('with a response schema is sent with the MIME type of JSON', async () => {
    const responseJsonSchema = {
      type: 'object',
      properties: { city: { type: 'string', minLength: 1 } },
      required: ['city'],
    }
    const { body, error } = await ask(['{"city":"Oslo"}'], { config: { responseJsonSchema } })
    expect(error).toBeUndefined()
    expect(body.generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: {
        type: 'object',
        properties: { city: { type: 'string', description: 'At least 1 character.' } },
        required: ['city'],
      },
    })
  })

  test('does not prevent a request from naming another model', async () => {
    await using server = await geminiServer(['Fine.'])
    const asked = gemini('gemini-2.5-flash', { apiKey: 'any', baseUrl: server.url })
    for await (const _ of asked.generate({ ...requestOf(), model: 'gemini-2.5-pro' }, {}));
    expect(server.requests[0]?.model).toBe('gemini-2.5-pro')
  })
})

describe('tools sent to Gemini', () => {
  test('are declared in one entry with rewritten schemas, without changing the originals', async () => {
    const schema = {
      $schema: 'x',
      type: 'object',
      properties: { n: { type: 'integer', exclusiveMinimum: 0 } },
      minProperties: 1,
    }
    const one = { ...declaration('one', schema), behavior: 'BLOCKING' as const, responseJsonSchema: { const: 'x' } }
    const before = JSON.stringify(one)
    const tools = [
      { functionDeclarations: [one] },
      { functionDeclarations: [declaration('two', { type: 'object', properties: {} })] },
    ]
    const { body, error } = await ask(['Fine.'], { config: { tools } })
    expect(error).toBeUndefined()
    expect(body.tools).toEqual([
      {
        functionDeclarations: [
          {
            name: 'one',
            description: 'Does one. At least 1 property.',
            parametersJsonSchema: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } },
            responseJsonSchema: { type: 'string', enum: ['x'] },
          },
          { name: 'two', description: 'Does two.' },
        ],
      },
    ])
    expect(JSON.stringify(one)).toBe(before)
  })

  test('of the server are unchanged', async () => {
    const anywhere: ConfigTool[] = [{ googleSearch: {} }, { urlContext: {} }, { codeExecution: {} }, { googleMaps: {} }]
    expect((await ask(['Fine.'], { config: { tools: anywhere } })).body.tools).toEqual(anywhere)
    const onVertex: ConfigTool[] = [
      { enterpriseWebSearch: {} },
      { retrieval: { vertexAiSearch: { datastore: 'd', maxResults: 3 } } },
    ]
    const options = { vertexai: true, project: 'p' }
    expect((await ask(['Fine.'], { config: { tools: onVertex }, options })).body.tools).toEqual(onVertex)
  })

  test('of both kinds set includeServerSideToolInvocations where supported', async () => {
    const tools = [functions('look'), { googleSearch: {} }]
    const { body, error } = await ask(['Fine.'], { name: newer, config: { tools } })
    expect(error).toBeUndefined()
    expect(body.toolConfig).toEqual({ includeServerSideToolInvocations: true })
    const vertex = await ask(['Fine.'], { name: newer, config: { tools }, options: { vertexai: true, project: 'p' } })
    expect([vertex.error, vertex.body.toolConfig]).toEqual([undefined, undefined])
  })

  test('that Gemini called itself are sent back in the next request', async () => {
    const parts = [
      { toolCall: { id: 't1', toolType: 'GOOGLE_SEARCH', args: { query: 'oslo' } }, thoughtSignature: 'c2ln' },
      { toolResponse: { id: 't1', toolType: 'GOOGLE_SEARCH', response: { hits: 1 } } },
    ] as object[] as Part[]
    const { whole } = await ask([{ parts, text: 'Cold.' }], { name: newer })
    expect(whole?.content?.parts).toEqual([...parts, { text: 'Cold.' }])
    const stored: Content = JSON.parse(JSON.stringify(whole?.content))
    expect((await told([user('Oslo?'), stored, user('And Rome?')], { name: newer }))[1]).toEqual(stored)
  })
})
