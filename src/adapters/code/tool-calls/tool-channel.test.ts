import { expect, test, vi } from 'vitest'
import { ToolChannel } from './tool-channel.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

function openChannel(
  callTool = async (name: string, args: object): Promise<Record<string, unknown>> => ({ name, args }),
) {
  const responses: unknown[] = []
  const stopReasons: string[] = []
  const channel = new ToolChannel({
    callTool,
    sendLine: async (line) => void responses.push(JSON.parse(line)),
    stopRun: (reason) => void stopReasons.push(reason),
  })
  return { channel, responses, stopReasons }
}

test('ToolChannel answers each line with a result line of the same id', async () => {
  const { channel, responses } = openChannel()
  channel.push(bytes('{"id":1,"name":"a","args":{"x":"ü'))
  channel.push(bytes('"}}\n{"id":2,"name":"b","args":{}}\n'))
  await vi.waitFor(() => expect(responses).toHaveLength(2))
  expect(responses).toEqual([
    { id: 1, result: { name: 'a', args: { x: 'ü' } } },
    { id: 2, result: { name: 'b', args: {} } },
  ])
})

test('ToolChannel answers a failed tool call with its error message', async () => {
  const { channel, responses } = openChannel(async () => {
    throw new Error('Which order?')
  })
  channel.push(bytes('{"id":1,"name":"a","args":{}}\n{"id":2,"name":"a","args":"text"}\n'))
  await vi.waitFor(() => expect(responses).toHaveLength(2))
  expect(responses).toContainEqual({ id: 1, error: 'Which order?' })
  expect(responses).toContainEqual({ id: 2, error: 'Tool "a" takes one object with named arguments.' })
})

test.each([
  'nonsense\n',
  '[]\n',
  '{"id":"1","name":"a"}\n',
  '{"id":1,"name":5}\n',
  '\n',
  'x'.repeat(1_000_001),
  `{"id":1,"name":"${'n'.repeat(201)}"}\n`,
])('ToolChannel stops the run on a line that is not a tool call, and reads no further line (%#)', async (text) => {
  const called: string[] = []
  const { channel, stopReasons } = openChannel(async (name) => {
    called.push(name)
    return {}
  })
  channel.push(bytes(text))
  channel.push(bytes('{"id":1,"name":"late","args":{}}\n'))
  expect(stopReasons).toHaveLength(1)
  expect(called).toEqual([])
})

test('ToolChannel stops the run at more than 256 tool calls at one time', () => {
  const { channel, stopReasons } = openChannel(() => new Promise(() => {}))
  for (let id = 0; id < 256; id++) channel.push(bytes(`{"id":${id},"name":"a","args":{}}\n`))
  expect(stopReasons).toEqual([])
  channel.push(bytes('{"id":256,"name":"a","args":{}}\n'))
  expect(stopReasons).toEqual(['the code made more than 256 tool calls at one time'])
})

test('ToolChannel drops a tool result that arrives after the channel was closed', async () => {
  let resolveCall = (_: Record<string, unknown>): void => {}
  const { channel, responses } = openChannel(() => new Promise((resolve) => (resolveCall = resolve)))
  channel.push(bytes('{"id":1,"name":"a","args":{}}\n'))
  channel.close()
  resolveCall({})
  await new Promise(setImmediate)
  expect(responses).toEqual([])
})

test('ToolChannel reads a line that arrives byte by byte once', async () => {
  const { channel, responses } = openChannel()
  for (const byte of bytes('{"id":1,"name":"a","args":{"x":"ü"}}\n')) channel.push(Uint8Array.of(byte))
  await vi.waitFor(() => expect(responses).toEqual([{ id: 1, result: { name: 'a', args: { x: 'ü' } } }]))
})

test('ToolChannel stops the run as soon as a line exceeds the limit', () => {
  const { channel, stopReasons } = openChannel()
  for (let sent = 0; sent < 1_000_000; sent += 100_000) channel.push(bytes('x'.repeat(100_000)))
  expect(stopReasons).toEqual([])
  channel.push(bytes('x'))
  expect(stopReasons).toEqual(['a tool call is larger than 1000000 bytes'])
})

test('ToolChannel treats forged ids, keys and bytes as plain data', async () => {
  const args: object[] = []
  const { channel, responses, stopReasons } = openChannel(async (_, given) => {
    args.push(given)
    return {}
  })
  channel.push(bytes('{"id":-1,"name":"a","args":{"__proto__":{"admin":true}}}\n'))
  channel.push(bytes('{"id":1e999,"name":"__proto__","args":{"constructor":1}}\n'))
  channel.push(bytes('{"id":-1,"name":"a","result":{"faked":true},"args":{}}\n'))
  channel.push(Buffer.concat([bytes('{"id":2,"name":"a","args":{"x":"'), Uint8Array.of(0xff, 0xc3), bytes('"}}\n')]))
  await vi.waitFor(() => expect(responses).toHaveLength(4))
  expect(stopReasons).toEqual([])
  expect(Object.hasOwn(args[0] ?? {}, '__proto__')).toBe(true)
  expect((args[0] as { admin?: unknown }).admin).toBeUndefined()
  expect(({} as { admin?: unknown }).admin).toBeUndefined()
  expect(args[3]).toEqual({ x: '\ufffd\ufffd' })
  expect(responses).toEqual([-1, null, -1, 2].map((id) => ({ id, result: {} })))
})

test('ToolChannel survives deeply nested arguments', async () => {
  const { channel, responses } = openChannel(async (_, args) => ({ text: JSON.stringify(args) }))
  channel.push(bytes(`{"id":1,"name":"a","args":{"x":${'['.repeat(400_000)}${']'.repeat(400_000)}}}\n`))
  channel.push(bytes('{"id":2,"name":"a","args":{}}\n'))
  await vi.waitFor(() => expect(responses).toContainEqual({ id: 2, result: { text: '{}' } }))
})

test('ToolChannel counts a tool call until the code can read its result', async () => {
  const read: (() => void)[] = []
  const stopReasons: string[] = []
  const channel = new ToolChannel({
    callTool: async () => ({}),
    sendLine: () => new Promise((resolve) => read.push(resolve)),
    stopRun: (reason) => void stopReasons.push(reason),
  })
  const call = (): void => channel.push(bytes('{"id":1,"name":"a","args":{}}\n'))
  for (let i = 0; i < 256; i++) call()
  await vi.waitFor(() => expect(read).toHaveLength(256))
  read[0]?.()
  await new Promise(setImmediate)
  call()
  expect(stopReasons).toEqual([])
  call()
  expect(stopReasons).toEqual(['the code made more than 256 tool calls at one time'])
})

test('ToolChannel stops the run when the code does not read the results of its tool calls', async () => {
  const stopReasons: string[] = []
  let sent = 0
  const channel = new ToolChannel({
    callTool: async () => ({ text: 'x'.repeat(10_000_000) }),
    sendLine: (line) => {
      sent += line.length
      return new Promise(() => {})
    },
    stopRun: (reason) => void stopReasons.push(reason),
  })
  for (let i = 0; i < 20; i++) channel.push(bytes('{"id":1,"name":"a","args":{}}\n'))
  await vi.waitFor(() => expect(stopReasons).toEqual(['the code does not read the results of its tool calls']))
  expect(sent).toBeLessThan(64_000_000)
})
