import { expect, test } from 'vitest'
import type { Tool } from '../tool/tool.ts'
import { extendToolTable, makeToolTable, unknownTool } from './resolve.ts'

const named = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  declaration: () => ({ name, description: name }),
  run: () => name,
  ...more,
})
const table = (...names: string[]) => makeToolTable(names.map((name) => ({ tool: named(name), source: 'a test' })))

test.each([
  ['that is reserved', 'adk_request_input', 'reserved'],
  ['with a space', 'has space', 'starts with a letter'],
  ['that starts with a digit', '1st', 'starts with a letter'],
  ['of 129 characters', 'x'.repeat(129), 'at most 128'],
])('makeToolTable() rejects a tool name %s', (_what, name, why) => {
  expect(() => table(name)).toThrow(why)
})

test('makeToolTable() rejects a tool that declares another name', () => {
  const tool = named('a', { declaration: () => ({ name: 'b', description: '' }) })
  expect(() => makeToolTable([{ tool, source: 'a test' }])).toThrow('declares the name "b"')
})

test('makeToolTable() builds the declarations of a table once', () => {
  const declared = table('a', 'b')
  const tools = declared.declare()
  expect(declared.declaredTools).toBe(tools)
  expect(tools).toEqual([
    {
      functionDeclarations: [
        { name: 'a', description: 'a' },
        { name: 'b', description: 'b' },
      ],
    },
  ])
  expect(table().declare()).toEqual([])
})

test('extendToolTable() keeps an existing tool when a later tool has its name', () => {
  const problems: string[] = []
  const first = table('a')
  const second = extendToolTable(
    first,
    ['a', 'b', 'adk_request_x'].map((name) => ({ tool: named(name), source: 'a toolset' })),
    (problem) => problems.push(problem),
  )
  expect([...second.tools.keys()]).toEqual(['a', 'b'])
  expect(second.entries.get('a')).toBe(first.entries.get('a'))
  expect(problems).toHaveLength(2)
})

test.each([
  ['getWeather', 'Did you mean "get_weather", "get_whether"?'],
  ['weather', 'Did you mean "get_weather"?'],
  ['get_wether', 'Did you mean "get_weather", "get_whether"?'],
  ['constructor', 'Available tools: "get_weather", "get_whether", "search".'],
])('unknownTool() suggests similar names for the unknown tool %s', (name, help) => {
  expect(unknownTool(table('get_weather', 'get_whether', 'search'), name)).toContain(help)
})

test('unknownTool() reports an unknown tool of an agent without tools', () => {
  expect(unknownTool(table(), 'x')).toBe('Unknown tool "x". This agent has no tools.')
})
