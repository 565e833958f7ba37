import { expect, test, vi } from 'vitest'
import { ToolLines } from './tool-lines.ts'

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

test.each(['nonsense\n', '[]\n', '{"id":"1","name":"a"}\n', '{"id":1,"name":5}\n', '\n', 'x'.repeat(1_000_001)])(
  'what is no call is refused, and nothing more is read (%#)',
  async (text) => {
    const called: string[] = []
    const { lines, refused } = speak(async (name) => {
      called.push(name)
      return {}
    })
    lines.push(bytes(text))
    lines.push(bytes('{"id":1,"name":"late","args":{}}\n'))
    expect(refused).toHaveLength(1)
    expect(called).toEqual([])
  },
)

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
