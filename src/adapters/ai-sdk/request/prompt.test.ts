// A conversation in the format of each provider.
import { expect, test } from 'vitest'
import { ProviderServer } from '../../../../test/providers/provider-server.ts'
import type { Content, Part } from '../../../core/content/content.ts'
import { type FromAiSdkOptions, fromAiSdk } from '../from-ai-sdk.ts'
import {
  ask,
  at,
  chat,
  claude,
  formats,
  gemini,
  type ProviderFormat,
  providers,
  request,
  responses,
  user,
} from '../providers.test-kit.ts'

const PNG = 'iVBORw0KGgo='
const PDF = 'JVBERi0xLjQ='
const picture: Part = { inlineData: { mimeType: 'image/png', data: PNG } }
const call = (id: string, name = 'look'): Part => ({ functionCall: { id, name, args: { n: id } } })
const answer = (id: string, response: object = { ok: id }, name = 'look'): Part => ({
  functionResponse: { id, name, response: { ...response } },
})
const model = (...parts: Part[]): Content => ({ role: 'model', parts })
const tool = (...parts: Part[]): Content => ({ role: 'tool', parts })

async function sent(
  format: ProviderFormat,
  contents: readonly Content[],
  options: FromAiSdkOptions = {},
): Promise<unknown> {
  await using server = await ProviderServer.start([format.say({ text: 'Fine.' })])
  await ask(fromAiSdk(format.model(server.url), options), request(contents))
  return server.requests[0]?.body
}

/** The messages after the first in the format of OpenAI chat completions, which is the simplest. */
const rest = async (...contents: Content[]): Promise<unknown[]> =>
  (at(await sent(chat, [user('Go.'), ...contents]), 'messages') as unknown[]).slice(1)

test('fromAiSdk() sends each result once, in order, right after its call', async () => {
  const said = await rest(model({ text: 'Both.' }, call('a'), call('b')), tool(answer('a'), answer('b')), user('And?'))
  expect(said).toMatchObject([
    { role: 'assistant', content: 'Both.', tool_calls: [{ id: 'a' }, { id: 'b' }] },
    { role: 'tool', tool_call_id: 'a', content: '{"ok":"a"}' },
    { role: 'tool', tool_call_id: 'b', content: '{"ok":"b"}' },
    { role: 'user', content: 'And?' },
  ])
})

test('fromAiSdk() joins results that were recorded separately into one message', async () => {
  const body = await sent(gemini, [user('Go.'), model(call('a'), call('b')), tool(answer('a')), tool(answer('b'))])
  expect(at(body, 'contents', 2, 'parts')).toMatchObject([
    { functionResponse: { id: 'a' } },
    { functionResponse: { id: 'b' } },
  ])
})

test('fromAiSdk() adds an error result for a call without a result', async () => {
  expect(await rest(model(call('a'), call('b')), tool(answer('b')), user('And?'))).toMatchObject([
    { role: 'assistant' },
    { role: 'tool', tool_call_id: 'b' },
    { role: 'tool', tool_call_id: 'a', content: expect.stringContaining('No result was recorded.') },
    { role: 'user', content: 'And?' },
  ])
})

test('fromAiSdk() sends a result without a call as text', async () => {
  expect(await rest(tool(answer('x', { sum: 3 })), user('And?'))).toEqual([
    { role: 'user', content: 'The result of look: {"sum":3}' },
    { role: 'user', content: 'And?' },
  ])
  const beside = await rest(model(call('a')), tool(answer('x', { sum: 3 }), answer('a')))
  expect(beside.map((message) => at(message, 'role'))).toEqual(['assistant', 'tool', 'user'])
})

test('fromAiSdk() matches calls and results without ids by name and order', async () => {
  const unnamed = (name: string, n: number): Part => ({ functionCall: { name, args: { n } } })
  const reply = (name: string, n: number): Part => ({ functionResponse: { name, response: { n } } })
  const said = await rest(
    model(unnamed('add', 1), unnamed('sub', 2), unnamed('add', 3)),
    tool(reply('add', 1), reply('add', 3), reply('sub', 2)),
  )
  const calls = at(said, 0, 'tool_calls') as { id: string; function: { arguments: string } }[]
  const results = said.slice(1).map((one) => [at(one, 'tool_call_id'), at(one, 'content')])
  expect(results.toSorted()).toEqual(calls.map(({ id, function: { arguments: args } }) => [id, args]).toSorted())
})

test('fromAiSdk() sends results in a user message as results', async () => {
  const said = await rest(model(call('a')), { role: 'user', parts: [answer('a'), { text: 'And?' }] })
  expect(said.map((message) => at(message, 'role'))).toEqual(['assistant', 'tool', 'user'])
})

test('fromAiSdk() marks a failed call as failed where the provider supports it', async () => {
  const failed = answer('a', { error: 'No such city', errorCode: 'NOT_FOUND' })
  const body = await sent(claude, [user('Go.'), model(call('a')), tool(failed)])
  expect(at(body, 'messages', 2, 'content', 0)).toMatchObject({
    type: 'tool_result',
    is_error: true,
    content: expect.stringContaining('NOT_FOUND'),
  })
})

test('fromAiSdk() leaves out empty parts and parts of another provider', async () => {
  const foreign: Part = { partMetadata: { aiSdk: { part: { type: 'custom', kind: 'other.thing' } } } }
  expect(await rest(model({ text: '' }, foreign, { text: 'Hi.' }), user('And?'))).toEqual([
    { role: 'assistant', content: 'Hi.' },
    { role: 'user', content: 'And?' },
  ])
  expect(await rest({ role: 'user', parts: [foreign, { text: 'And?' }] })).toEqual([{ role: 'user', content: 'And?' }])
  expect(await rest(model({ text: '' }), user('And?'))).toEqual([{ role: 'user', content: 'And?' }])
})

test('fromAiSdk() ignores stored metadata on parts of user messages', async () => {
  const cached = { partMetadata: { aiSdk: { metadata: { anthropic: { cacheControl: { type: 'ephemeral' } } } } } }
  const said = [user('Go.'), model({ text: 'Hi.', ...cached }), user('And?')]
  expect(JSON.stringify(await sent(claude, said))).toContain('ephemeral')
  const forged: Content = {
    role: 'user',
    parts: [
      { text: 'Go.', ...cached },
      { ...picture, ...cached },
    ],
  }
  expect(JSON.stringify(await sent(claude, [forged]))).not.toContain('ephemeral')
})

test('fromAiSdk() sends code and its output as text', async () => {
  const code = { executableCode: { language: 'PYTHON', code: 'print(2)' } }
  const printed = { codeExecutionResult: { outcome: 'OUTCOME_OK' as const, output: '2' } }
  const [said, heard] = await rest(model(code), { role: 'user', parts: [printed] })
  expect(at(said, 'content')).toBe('```python\nprint(2)\n```')
  expect(at(heard, 'content')).toContain('The code ran and printed:')
})

const document: Part = { inlineData: { mimeType: 'application/pdf', data: PDF, displayName: 'plan.pdf' } }

test.each([
  [
    chat.name,
    chat,
    ['messages', 0, 'content'],
    [{ image_url: { url: `data:image/png;base64,${PNG}` } }, { file: { filename: 'plan.pdf' } }],
  ],
  [
    responses.name,
    responses,
    ['input', 0, 'content'],
    [{ image_url: `data:image/png;base64,${PNG}` }, { filename: 'plan.pdf' }],
  ],
  [
    claude.name,
    claude,
    ['messages', 0, 'content'],
    [{ source: { data: PNG } }, { source: { data: PDF }, title: 'plan.pdf' }],
  ],
  [gemini.name, gemini, ['contents', 0, 'parts'], [{ inlineData: { data: PNG } }, { inlineData: { data: PDF } }]],
] as const)('fromAiSdk() with %s sends images and documents', async (_name, format, path, expected) => {
  const body = await sent(format, [{ role: 'user', parts: [{ text: 'See' }, picture, document] }])
  expect((at(body, ...path) as unknown[]).slice(1)).toMatchObject(expected)
})

const link = (fileUri: string, mimeType?: string): Content => ({
  role: 'user',
  parts: [{ fileData: { fileUri, ...(mimeType && { mimeType }) } }],
})

test('fromAiSdk() sends a URL that the model can read', async () => {
  const body = await sent(chat, [link('https://example.com/Cat.png', 'image/png')])
  expect(at(body, 'messages', 0, 'content', 0)).toMatchObject({ image_url: { url: 'https://example.com/Cat.png' } })
  const fileData = { fileUri: 'https://www.youtube.com/watch?v=abc', mimeType: 'video/mp4' }
  const video = await sent(gemini, [{ role: 'user', parts: [{ fileData, videoMetadata: { fps: 2 } }] }])
  expect(at(video, 'contents', 0, 'parts', 0)).toMatchObject({ fileData, videoMetadata: { fps: 2 } })
})

test.each([
  ['of another type', chat, 'https://example.com/plan.pdf?key=SECRET', 'application/pdf'],
  ['with an unsupported URL scheme', claude, 'ftp://user:SECRET@example.com/cat.png', 'image/png'],
  ['with an invalid URL', chat, 'files/SECRETLESS', 'image/png'],
  ['without a type', chat, 'https://example.com/cat.png', undefined],
])('fromAiSdk() rejects a file %s without fetching it', async (_, format, fileUri, mimeType) => {
  await using server = await ProviderServer.start([])
  const asking = ask(fromAiSdk(format.model(server.url)), request([link(fileUri, mimeType)]))
  await expect(asking).rejects.toThrow(/cannot read files .* from a URL .* inlineData/)
  await expect(asking).rejects.not.toThrow(/SECRET\b/)
  expect(server.requests).toEqual([])
})

test.each(formats)('fromAiSdk() with $name shows the model the media of a result', async (format) => {
  const drawn = [answer('a', { status: 'drawn' }, 'draw'), picture, answer('b', { status: 'bare' }, 'draw')]
  const history = [user('Go.'), model(call('a', 'draw'), call('b', 'draw')), tool(...drawn)]
  const body = JSON.stringify(await sent(format, history))
  const order = [/"draw"/, /drawn/, /bare/].map((word) => body.search(word))
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  expect(body.match(new RegExp(PNG, 'g'))).toHaveLength(1)
})

test('fromAiSdk() sends media for chat completions in a user message after all results', async () => {
  const drawn = [answer('a', { status: 'drawn' }, 'draw'), picture, answer('b', { status: 'bare' }, 'draw')]
  const history = [model(call('a', 'draw'), call('b', 'draw')), tool(...drawn)]
  expect((await rest(...history)).slice(1)).toMatchObject([
    { role: 'tool', content: '{"status":"drawn"}' },
    { role: 'tool', content: '{"status":"bare"}' },
    {
      role: 'user',
      content: [
        { text: 'draw returned this media with its result (a):' },
        { text: 'file (image/png, about 9 bytes):' },
        { type: 'image_url' },
      ],
    },
  ])
  const inside = await sent(chat, [user('Go.'), ...history], { mediaInToolResults: true })
  expect(at(inside, 'messages', 2, 'content')).toContain(PNG)
})

test('fromAiSdk() describes a file of a result that the model cannot read', async () => {
  const far: Part = { fileData: { mimeType: 'video/mp4', fileUri: 'https://example.com/clip.mp4?key=SECRET' } }
  const body = JSON.stringify(
    await sent(claude, [user('Go.'), model(call('a', 'draw')), tool(answer('a', {}, 'draw'), far)]),
  )
  expect(body).toContain('file (video/mp4) at https://example.com/clip.mp4, which this model cannot read.')
  expect(body).not.toContain('SECRET')
})

test('fromAiSdk() throws for an image of the user that the model does not accept', async () => {
  const odd: Part = { inlineData: { mimeType: 'application/x-odd', data: PDF } }
  await expect(sent(chat, [{ role: 'user', parts: [odd] }])).rejects.toThrow('not supported')
})

test('fromAiSdk() with Cohere sends a text file as text, and other files never as text', async () => {
  const cohere = providers.find(({ name }) => name === 'cohere') as ProviderFormat
  const notes: Part = { inlineData: { mimeType: 'text/plain', data: btoa('Snow today.'), displayName: 'notes.txt' } }
  const drawn = [user('Go.'), model(call('a', 'draw')), tool(answer('a', {}, 'draw'), notes, document, picture)]
  const body = JSON.stringify(await sent(cohere, drawn))
  expect(body).not.toContain(PDF)
  expect(body).toContain(PNG)
  expect(body).toContain('file \\"plan.pdf\\" (application/pdf, about 9 bytes), which this model cannot read.')
  const alone = JSON.stringify(await sent(cohere, [{ role: 'user', parts: [{ text: 'See' }, notes] }]))
  expect(alone).toContain('Snow today.')
})

test('fromAiSdk() sends the media inside a response object', async () => {
  const functionResponse = { id: 'a', name: 'draw', response: { status: 'drawn' }, parts: [picture] }
  const body = await sent(claude, [user('Go.'), model(call('a', 'draw')), tool({ functionResponse })])
  expect(at(body, 'messages', 2, 'content', 0, 'content')).toMatchObject([
    { type: 'text', text: '{"status":"drawn"}' },
    { type: 'image', source: { data: PNG } },
  ])
})
