// The look at a text that decides whether the compiler is needed.
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { lookForFunctions } from '../../src/apps/infer/positions/may-use-functions.ts'
import { temporaryFolder } from './temporary-folder.ts'

const look = (text: string, file = resolve('test/infer/virtual.ts')): boolean =>
  lookForFunctions(file, text).mayUseFunctions

const written = `import { confirm, LlmAgent, tool, toolSource } from 'toolwright'
import { gemini } from 'toolwright/gemini'
import { z } from 'zod'
const Query = z.object({ city: z.string() })
async function fetchWeather(city: string) { return fetch(city) }
const model = gemini('gemini-3-pro')
const getWeather = tool({ name: 'get_weather', description: 'Weather', parameters: Query, run: ({ city }) => fetchWeather(city) })
const refund = confirm(tool({ name: 'refund', description: 'Refund', run: fetchWeather }), 'Sure?')
`

test.each([
  ['written tools', 'export default new LlmAgent({ name: "a", model, tools: [getWeather, refund] })'],
  [
    'a list of written tools',
    'const tools = [getWeather, refund]\nexport default new LlmAgent({ name: "a", model, tools })',
  ],
  [
    'a tool in place',
    'export default new LlmAgent({ name: "a", model, tools: [tool({ name: "x", description: "X", run: async () => 1 })] })',
  ],
  [
    'tools that functions of this package make',
    'export default new LlmAgent({ name: "a", model, tools: [getWeather, confirm(refund, "Sure?")] })',
  ],
  [
    'lists of something else',
    'const child = makeAgent()\nfunction guard() {}\nfunction makeAgent() { return new LlmAgent({ name: "b", model }) }\nexport default new LlmAgent({ name: "a", model, subAgents: [child], beforeModel: [guard], tools: [getWeather] })',
  ],
])('needs no compiler for %s', (_what, agent) => {
  expect(look(written + agent)).toBe(false)
})

test.each([
  ['a function', '/** A. */ function fn(a: string) {}', 'fn'],
  ['a function of this package that is not called', '', 'confirm'],
  ['a generator', '/** A. */ async function* fn(a: string) {}', 'fn'],
  ['an arrow function', 'const fn = (a: string) => a', 'fn'],
  ['an async arrow function', 'const fn = async (a: string) => a', 'fn'],
  ['a function expression', 'const fn = function (a: string) { return a }', 'fn'],
  ['a constant with a type', 'const fn: Search = getWeather.run', 'fn'],
  ['the result of a function', 'const fn = make(5)', 'fn'],
  ['another constant', 'const fn = other', 'fn'],
  ['an unpacked constant', 'const { fn, gn } = other', 'fn'],
  ['a variable', 'let fn = other', 'fn'],
  ['a static method', 'class Orders { static refund() {} }', 'Orders.refund'],
  ['a member of an object', 'const kit = { ping() {} }', 'kit.ping'],
  ['a function in place', '', '(a: string) => a'],
  ['an async function in place', '', 'async (a: string) => a'],
  ['a function expression in place', '', 'function (a: string) { return a }'],
  ['a function with a cast', 'function fn() {}', 'fn as never'],
  ['a function in parentheses', 'function fn() {}', '(fn)'],
  ['the first branch', 'function fn() {}', 'flag ? fn : getWeather'],
  ['the second branch', 'function fn() {}', 'flag ? getWeather : fn'],
  ['a function behind &&', 'function fn() {}', 'flag && fn'],
  ['a function in a nested list', 'function fn() {}', '[getWeather, fn]'],
  ['a list that is spread', 'function fn() {}\nconst list = [fn]', '...list'],
  ['an import of another file', `import { fn } from './nowhere.ts'`, 'fn'],
  ['a renamed import', `import { other as fn } from './nowhere.ts'`, 'fn'],
  ['a default import', `import fn from './nowhere.ts'`, 'fn'],
  ['a namespace import', `import * as kit from './nowhere.ts'`, 'kit.fn'],
  ['an import of a package', `import { fn } from 'somewhere'`, 'fn'],
  ['a name with a dollar', 'function $fn() {}', '$fn'],
  ['the second of two constants', 'const a = 1, fn = (x: string) => x', 'fn'],
  ['a function that a package wraps', `import _ from 'lodash'\nconst fn = _.memoize((city: string) => city)`, 'fn'],
  [
    'a function with the name of another constant',
    `import { fn } from './nowhere.ts'\nif (model) { const fn = ''; void fn }`,
    'fn',
  ],
  ['a variable without a value yet', 'let fn = null as never', 'fn'],
  ['a method of the class', '', 'this.find'],
])('needs the compiler for %s', (_what, declaration, item) => {
  const before = `${written}${declaration}\n`
  expect(look(`${before}export default new LlmAgent({ name: 'a', model, tools: [${item}] })`), 'alone').toBe(true)
  expect(
    look(`${before}export default new LlmAgent({ name: 'a', model, tools: [\n  getWeather,\n  ${item},\n] })`),
    'second',
  ).toBe(true)
  if (!item.startsWith('...')) expect(look(`${before}export default tool(${item}, { name: 'x' })`), 'tool()').toBe(true)
})

test.each([
  ['an imported list', `import { list } from './nowhere.ts'`, 'tools: list'],
  ['an imported list with the name of the property', `import { tools } from './nowhere.ts'`, 'tools'],
  ['a list of a namespace', `import * as kit from './nowhere.ts'`, 'tools: kit.tools'],
  ['a list that a function returns', `import { make } from './nowhere.ts'`, 'tools: make()'],
  ['a list in a condition', `import { list } from './nowhere.ts'`, 'tools: model ? list : []'],
  ['a list in parentheses', `import { list } from './nowhere.ts'`, 'tools: (list)'],
  ['a quoted property', `import { list } from './nowhere.ts'`, '"tools": list'],
])('needs the compiler for %s', (_what, declaration, property) => {
  expect(look(`${written}${declaration}\nexport default new LlmAgent({ name: 'a', model, ${property} })`)).toBe(true)
})

test.each([
  [
    'toolSource()',
    `import { fn } from './nowhere.ts'\nexport default new LlmAgent({ name: 'a', model, tools: [toolSource(() => fn)] })`,
  ],
  [
    'new StaticToolset()',
    `import { StaticToolset } from 'toolwright'\nimport { list } from './nowhere.ts'\nexport default new StaticToolset(list)`,
  ],
  [
    'tool() under another name',
    `import { tool as make } from 'toolwright'\nfunction fn() {}\nexport default [make(fn)]`,
  ],
  ['tool() of a namespace', `import * as kit from 'toolwright'\nfunction fn() {}\nexport default kit.tool(fn)`],
  [
    'a function of your own with tools in its name',
    `import { withTools } from './nowhere.ts'\nfunction fn() {}\nexport default withTools(fn)`,
  ],
])('needs the compiler for a function in %s', (_where, source) => {
  expect(look(written + source)).toBe(true)
})

test('looks into imported files for written tools, and says which ones', () => {
  using project = temporaryFolder()
  const agent = `import { LlmAgent } from 'toolwright'\nimport { refund } from './tools.ts'\nexport default new LlmAgent({ name: 'a', tools: [refund] })`
  writeFileSync(
    project.file('tools.ts'),
    `import { tool } from 'toolwright'\nexport const refund = tool({\n  name: 'refund',\n})`,
  )
  expect(lookForFunctions(project.file('agent.ts'), agent)).toEqual({
    mayUseFunctions: false,
    readFiles: [project.file('tools.ts')],
  })
  writeFileSync(project.file('tools.ts'), 'export const refund = (id: string) => id')
  expect(lookForFunctions(project.file('agent.ts'), agent).mayUseFunctions).toBe(true)
})
