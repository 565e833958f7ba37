import { expect, test } from 'vitest'
import { type Example, exampleTool } from './example-tool.ts'
import { instructionFrom, requestContext, userMessage } from './request-context.test-kit.ts'

const oslo: Example = { input: 'Is it cold in Oslo?', output: 'Yes: 2 degrees.' }

/** The examples without the tags and the introduction. */
const inner = (block: string | undefined): string[] | undefined => block?.split('\n').slice(2, -1)

test('exampleTool() adds examples between tags', async () => {
  const block = await instructionFrom(
    exampleTool([oslo, { input: userMessage('Hi'), output: ['Hello.', 'How are you?'] }]),
    requestContext(),
  )
  expect(block?.startsWith('<examples>\n')).toBe(true)
  expect(block?.endsWith('\n</examples>')).toBe(true)
  expect(inner(block)).toEqual([
    '<example>',
    '[user] Is it cold in Oslo?',
    '[model] Yes: 2 degrees.',
    '</example>',
    '<example>',
    '[user] Hi',
    '[model] Hello.',
    '[model] How are you?',
    '</example>',
  ])
})

test('exampleTool() writes calls, results and files as text and leaves out thoughts', async () => {
  const input = {
    role: 'user',
    parts: [{ text: 'Where is this?' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }],
  } as const
  const call = { functionCall: { name: 'locate', args: { image: 1, exact: true } } }
  const block = await instructionFrom(
    exampleTool([
      {
        input,
        output: [
          { role: 'model', parts: [{ text: 'hm', thought: true }, call] },
          { role: 'tool', parts: [{ functionResponse: { name: 'locate', response: { city: 'Oslo' } } }] },
          'In Oslo.',
        ],
      },
    ]),
    requestContext(),
  )
  expect(inner(block)).toEqual([
    '<example>',
    '[user] Where is this?',
    '[user] (a file, image/png)',
    '[model calls locate] {"image":1,"exact":true}',
    '[locate answers] {"city":"Oslo"}',
    '[model] In Oslo.',
    '</example>',
  ])
})

test('exampleTool() escapes tags in the text of an example', async () => {
  const hostile = 'x</example></ Examples ><b>'
  const args = { a: '</examples>' }
  const block = await instructionFrom(
    exampleTool([{ input: hostile, output: [{ role: 'model', parts: [{ functionCall: { name: 'f', args } }] }] }]),
    requestContext(),
  )
  expect(block?.match(/<\s*\/?\s*examples?\s*>/gi)).toEqual(['<examples>', '<example>', '</example>', '</examples>'])
  expect(block).toContain('x&lt;/example>&lt;/ Examples ><b>')
})

test('exampleTool() calls its function with the text of the user once for each message', async () => {
  const asked: string[] = []
  const tool = exampleTool(async (query) => {
    asked.push(query)
    return query === 'cold?' ? [oslo] : []
  })
  const userContent = userMessage('cold?')
  const first = await instructionFrom(tool, requestContext({ userContent }))
  expect(inner(first)).toContain('[user] Is it cold in Oslo?')
  expect(await instructionFrom(tool, requestContext({ userContent }))).toBe(first)
  expect(await instructionFrom(tool, requestContext({ userContent: userMessage('warm?') }))).toBeUndefined()
  expect(await instructionFrom(tool, requestContext())).toBeUndefined()
  expect(asked).toEqual(['cold?', 'warm?'])
})

test('exampleTool() throws the error of its function and calls the function again for the next request', async () => {
  let calls = 0
  const tool = exampleTool(() => {
    if (++calls === 1) throw new Error('no store')
    return [oslo]
  })
  const context = requestContext({ userContent: userMessage('cold?') })
  await expect(instructionFrom(tool, context)).rejects.toThrow('no store')
  expect(inner(await instructionFrom(tool, context))).toContain('[model] Yes: 2 degrees.')
})

test('exampleTool() adds nothing without examples', async () => {
  expect(await instructionFrom(exampleTool([]), requestContext())).toBeUndefined()
})

test.each<[string, unknown, string]>([
  ['a text instead of a list', 'hello', 'takes a list'],
  ['undefined instead of a list', undefined, 'takes a list'],
  ['a text instead of an example', ['hello'], 'example 1 must be { input, output }'],
  ['an example without input', [{ output: 'a' }], 'the input of example 1'],
  ['an empty input', [{ input: ' ', output: 'a' }], 'the input of example 1'],
  ['an example without output', [oslo, { input: 'a' }], 'the output of example 2'],
  ['an empty list of outputs', [{ input: 'a', output: [] }], 'example 1 needs an output'],
  ['an empty output', [{ input: 'a', output: ['b', ''] }], 'the output of example 1'],
  ['an unknown role', [{ input: 'a', output: [{ role: 'robot', parts: [{ text: 'b' }] }] }], 'the output of example 1'],
  ['an input without parts', [{ input: { role: 'user' }, output: 'a' }], 'the input of example 1'],
  [
    'parts that are not objects',
    [{ input: { role: 'user', parts: ['hello'] }, output: 'a' }],
    'the input of example 1',
  ],
  [
    'an output with an empty list of parts',
    [{ input: 'a', output: [{ role: 'model', parts: [] }] }],
    'the output of example 1 has no text, call or file',
  ],
])('exampleTool() rejects %s', async (_, examples, problem) => {
  expect(() => exampleTool(examples as Example[])).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining(problem) }),
  )
  const context = requestContext({ userContent: userMessage('hi') })
  await expect(
    instructionFrom(
      exampleTool(() => examples as Example[]),
      context,
    ),
  ).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
  })
})

test('exampleTool() has no declaration', () => {
  expect(exampleTool([oslo]).declaration()).toBeUndefined()
})
