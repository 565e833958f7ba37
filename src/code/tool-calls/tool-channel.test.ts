import { expect, test, vi } from 'vitest'
import { ToolLines } from './tool-channel.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

function speak(callTool = async (name: string, args: object): Promise<Record<string, unknown>> => ({ name, args })) {
  const replies: unknown[] = []
  const refused: string[] = []
  const lines = new ToolLines({
    callTool,
    reply: async (line) => void replies.push(JSON.parse(line)),
    refuse: (reason) => void refused.push(reason),
  })
  return { lines, replies, refused }
}

test('a line is a call, and gets a line with its number', async () => {
  const { lines, replies } = speak()
  lines.push(bytes('{"id":1,"name":"a","args":{"x":"ü'))
  lines.push(bytes('"}}\n{"id":2,"name":"b","args":{}}\n'))
  await vi.waitFor(() => expect(replies).toHaveLength(2))
  expect(replies).toEqual([
    { id: 1, result: { name: 'a', args: { x: 'ü' } } },
    { id: 2, result: { name: 'b', args: {} } },
  ])
})

test('what a tool says went wrong is the answer', async () => {
  const { lines, replies } = speak(async () => {
    throw new Error('Which order?')
  })
  lines.push(bytes('{"id":1,"name":"a","args":{}}\n{"id":2,"name":"a","args":"text"}\n'))
  await vi.waitFor(() => expect(replies).toHaveLength(2))
  expect(replies).toContainEqual({ id: 1, error: 'Which order?' })
  expect(replies).toContainEqual({ id: 2, error: 'a takes one object with its arguments' })
})

test.each([
  'nonsense\n',
  '[]\n',
  '{"id":"1","name":"a"}\n',
  '{"id":1,"name":5}\n',
  '\n',
  'x'.repeat(1_000_001),
  `{"id":1,"name":"${'n'.repeat(201)}"}\n`,
])('what is no call is refused, and nothing more is read (%#)', async (text) => {
  const called: string[] = []
  const { lines, refused } = speak(async (name) => {
    called.push(name)
    return {}
  })
  lines.push(bytes(text))
  lines.push(bytes('{"id":1,"name":"late","args":{}}\n'))
  expect(refused).toHaveLength(1)
  expect(called).toEqual([])
})

test('more calls at one time than anybody needs are refused', () => {
  const { lines, refused } = speak(() => new Promise(() => {}))
  for (let id = 0; id < 256; id++) lines.push(bytes(`{"id":${id},"name":"a","args":{}}\n`))
  expect(refused).toEqual([])
  lines.push(bytes('{"id":256,"name":"a","args":{}}\n'))
  expect(refused).toEqual(['more than 256 tools were called at one time'])
})

test('an answer after the end is not sent', async () => {
  let answer = (_: Record<string, unknown>): void => {}
  const { lines, replies } = speak(() => new Promise((resolve) => (answer = resolve)))
  lines.push(bytes('{"id":1,"name":"a","args":{}}\n'))
  lines.end()
  answer({})
  await new Promise(setImmediate)
  expect(replies).toEqual([])
})

test('a line that arrives byte by byte is read once', async () => {
  const { lines, replies } = speak()
  for (const byte of bytes('{"id":1,"name":"a","args":{"x":"ü"}}\n')) lines.push(Uint8Array.of(byte))
  await vi.waitFor(() => expect(replies).toEqual([{ id: 1, result: { name: 'a', args: { x: 'ü' } } }]))
})

test('a line over the limit is refused as soon as it is', () => {
  const { lines, refused } = speak()
  for (let sent = 0; sent < 1_000_000; sent += 100_000) lines.push(bytes('x'.repeat(100_000)))
  expect(refused).toEqual([])
  lines.push(bytes('x'))
  expect(refused).toEqual(['a tool call is larger than 1000000 bytes'])
})

test('forged ids, keys and bytes reach the tool as data, and the code as answers to itself', async () => {
  const args: object[] = []
  const { lines, replies, refused } = speak(async (_, given) => {
    args.push(given)
    return {}
  })
  lines.push(bytes('{"id":-1,"name":"a","args":{"__proto__":{"admin":true}}}\n'))
  lines.push(bytes('{"id":1e999,"name":"__proto__","args":{"constructor":1}}\n'))
  lines.push(bytes('{"id":-1,"name":"a","result":{"faked":true},"args":{}}\n'))
  lines.push(Buffer.concat([bytes('{"id":2,"name":"a","args":{"x":"'), Uint8Array.of(0xff, 0xc3), bytes('"}}\n')]))
  await vi.waitFor(() => expect(replies).toHaveLength(4))
  expect(refused).toEqual([])
  expect(Object.hasOwn(args[0] ?? {}, '__proto__')).toBe(true)
  expect((args[0] as { admin?: unknown }).admin).toBeUndefined()
  expect(({} as { admin?: unknown }).admin).toBeUndefined()
  expect(args[3]).toEqual({ x: '\ufffd\ufffd' })
  expect(replies).toEqual([-1, null, -1, 2].map((id) => ({ id, result: {} })))
})

test('nesting without end breaks nothing', async () => {
  const { lines, replies } = speak(async (_, args) => ({ text: JSON.stringify(args) }))
  lines.push(bytes(`{"id":1,"name":"a","args":{"x":${'['.repeat(400_000)}${']'.repeat(400_000)}}}\n`))
  lines.push(bytes('{"id":2,"name":"a","args":{}}\n'))
  await vi.waitFor(() => expect(replies).toContainEqual({ id: 2, result: { text: '{}' } }))
})

test('a call counts until the code can read its answer', async () => {
  const read: (() => void)[] = []
  const refused: string[] = []
  const lines = new ToolLines({
    callTool: async () => ({}),
    reply: () => new Promise((resolve) => read.push(resolve)),
    refuse: (reason) => void refused.push(reason),
  })
  const call = (): void => lines.push(bytes('{"id":1,"name":"a","args":{}}\n'))
  for (let i = 0; i < 256; i++) call()
  await vi.waitFor(() => expect(read).toHaveLength(256))
  read[0]?.()
  await new Promise(setImmediate)
  call()
  expect(refused).toEqual([])
  call()
  expect(refused).toEqual(['more than 256 tools were called at one time'])
})

test('stops the run when the code does not read the answers of its calls', async () => {
  const refused: string[] = []
  let sent = 0
  const lines = new ToolLines({
    callTool: async () => ({ text: 'x'.repeat(10_000_000) }),
    reply: (line) => {
      sent += line.length
      return new Promise(() => {})
    },
    refuse: (reason) => void refused.push(reason),
  })
  for (let i = 0; i < 20; i++) lines.push(bytes('{"id":1,"name":"a","args":{}}\n'))
  await vi.waitFor(() => expect(refused).toEqual(['it does not read the answers of its tools']))
  expect(sent).toBeLessThan(64_000_000)
})
