// Hostile requests. Each test passes when it ends within the default timeout.

import { expect, test } from 'vitest'
import fc from '../../../core/base/fast-check.test-kit.ts'
import type { JsonObject } from '../../../core/base/json.ts'
import { callsFor, declare, exchange, generateParts, textFor, user } from './offline-request.test-kit.ts'
import { toolbox } from './toolbox.test-kit.ts'

const tools = toolbox.flatMap((tool) => tool.declaration() ?? [])
const MEGABYTE = 1_000_000

test.each([
  'a',
  'a.',
  'a-1',
  'a@b.',
  ' ',
  "'a ",
  '"',
  '(',
  '1,',
  '1 ',
  '1+',
  '/a',
  'in ',
  'Oslo Lima ',
  'and add ',
  'weather in Oslo and ',
  'weather.\n',
  ': ',
  '"a" ',
  '😀',
])('the offline model answers a megabyte of %j', async (piece) => {
  const messages = piece.repeat(MEGABYTE / piece.length)
  expect((await generateParts({ tools, messages })).length).toBeGreaterThan(0)
})

test('the offline model finds a question at the start of a megabyte', async () => {
  const padding = 'lorem ipsum '.repeat(MEGABYTE / 12)
  const calls = [['get_weather', { city: 'Oslo' }]]
  expect(await callsFor({ tools, messages: `What is the weather in Oslo?\n${padding}` })).toEqual(calls)
})

test('the offline model calls the right one of a thousand tools', async () => {
  const crowd = Array.from({ length: 1_000 }, (_, at) =>
    declare(`tool_${at}`, `Does something to gadget${at}`, { city: { type: 'string' } }),
  )
  const messages = 'What is the weather in Oslo?'
  expect(await callsFor({ tools: [...crowd, ...tools], messages })).toEqual([['get_weather', { city: 'Oslo' }]])
})

const words = `What is Turn on Book Cancel Order Send Convert Translate Add Set a table the light in kitchen my order ORD-7 Oslo
  from to for at about with and then tomorrow Friday 7pm 12:30 4 people -3 2.5 1,200 20% $40 USD euros French high done
  "quoted text" a@example.com https://example.com notes.txt savings Alice : , . ? " ' # 31/31/2025 25:00 99999999999999999999`

test('random words never make the offline model call a tool with arguments of the wrong type', {
  timeout: 30_000,
}, async () => {
  const byName = new Map(toolbox.map((tool) => [tool.name, tool]))
  const word = fc.constantFrom(...words.split(/\s+/))
  const property = fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 14 }), async (list) => {
    for (const [name, args] of await callsFor({ tools, messages: list.join(' ') })) {
      const { issues = [] } = (await byName.get(name)?.parse?.(args)) ?? {}
      // the tool reports a number out of range to the user; a wrong type would be a bug of the model
      expect(issues.filter(({ expected }) => !/more than|at least|at most|less than/.test(expected))).toEqual([])
    }
  })
  await fc.assert(property, { numRuns: 300, seed: 7 })
})

const string = { type: 'string' }
let deep: JsonObject = string
for (let at = 0; at < 10_000; at++) deep = { type: 'object', properties: { a: deep }, required: ['a'] }

const branching = {
  $ref: '#/$defs/Tree',
  $defs: {
    Tree: {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`b${at}`, { $ref: '#/$defs/Tree' }])),
      required: Array.from({ length: 20 }, (_, at) => `b${at}`),
    },
  },
}
const circular = {
  type: 'object',
  properties: { a: { $ref: '#/$defs/A' } },
  required: ['a'],
  $defs: { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/A' } },
}
const wide = {
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`p${at}`, { enum: ['x', 'y'] }])),
}
const catastrophic = {
  type: 'object',
  properties: { city: { type: 'string', pattern: '^(a+)+$' } },
  required: ['city'],
  patternProperties: { '^(a+)+$': string },
}
const nonsense = {
  type: 7,
  properties: 'none',
  required: 'all',
  enum: {},
  anyOf: [null, 3],
  allOf: ['x'],
  items: false,
}

test.each<[name: string, schema: JsonObject]>([
  ['10,000 levels deep', deep],
  ['with endless branches', branching],
  ['with circular references', circular],
  ['with 20,000 properties', wide],
  [
    'with 100,000 choices',
    { type: 'object', properties: { c: { enum: Array.from({ length: 100_000 }, (_, at) => `v ${at}`) } } },
  ],
  ['with a catastrophic pattern', catastrophic],
  ['with invalid keywords', nonsense],
])('the offline model accepts a schema %s as parameters and as response schema', async (_, schema) => {
  const messages = `What is the weather in ${'a'.repeat(40)}!?`
  const tool = { name: 'get_weather', description: 'Get the weather', parametersJsonSchema: schema }
  expect((await generateParts({ tools: [tool], messages })).length).toBe(1)
  expect(JSON.parse(await textFor({ messages, config: { responseJsonSchema: schema } }))).toBeDefined()
})

test('the offline model treats parameters named like prototype members as plain data', async () => {
  const properties = JSON.parse(
    '{ "__proto__": { "type": "string", "enum": ["polluted"] }, "constructor": { "type": "number" }, "toString": { "type": "boolean" } }',
  )
  const tool = declare('constructor', 'Build a house', properties)
  const [[name, args] = []] = await callsFor({ tools: [tool], messages: 'Build a polluted house, constructor 3' })
  expect(name).toBe('constructor')
  expect(Object.entries(args ?? {})).toEqual([
    ['__proto__', 'polluted'],
    ['constructor', 3],
    ['toString', false],
  ])
  expect(({} as JsonObject).polluted).toBeUndefined()
  expect(Object.getPrototypeOf(args)).toBe(Object.prototype)
})

test('the offline model treats result keys named like prototype members as plain data', async () => {
  const poisoned = JSON.parse('{ "__proto__": { "city": "Oslo" }, "constructor": { "prototype": 1 } }')
  const messages = [user('What is the weather in Oslo?'), ...exchange('get_weather', { city: 'Oslo' }, poisoned)]
  expect(await textFor({ tools, messages })).toContain('constructor')
})

test('the offline model ignores values that cannot be converted to text', async () => {
  const mute = { toString: 1, valueOf: 1 }
  const parameters = { city: { type: 'string', description: mute }, mode: { enum: [mute, 'live'] } }
  const weather = { ...declare('get_weather', 'Get the weather', parameters), description: mute as never }
  const messages = user('What is the weather in Oslo, live?')
  const args = { city: 'Oslo', mode: 'live' }
  expect(await callsFor({ tools: [weather], messages: [messages] })).toEqual([['get_weather', args]])
  const results = exchange('get_weather', args, { status: mute, temperature: 3, units: mute, list: [[[[[[mute]]]]]] })
  expect(await textFor({ tools: [weather], messages: [messages, ...results] })).toContain('It is 3°')
})

test('the offline model ignores invalid declarations', async () => {
  const broken = [null, 7, { name: 3 }, { name: 'get_weather' }] as never[]
  expect(await callsFor({ tools: broken, messages: 'Get the weather' })).toEqual([['get_weather', {}]])
})
