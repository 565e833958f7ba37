// Which only parameter is the object of all arguments. The type FunctionArgs decides in the same way: see define-tool.test-d.ts.
import { expect, test } from 'vitest'
import { createProject } from './project-kit.ts'

const byName: { [name: string]: string } = {
  union: 'value: { kind: "a" } | { kind: "b"; id: string }',
  record: 'value: Record<string, number>',
  numbered: 'value: { [index: number]: string }',
  tuple: 'value: [string, number]',
  list: 'value: string[]',
  branded: 'value: string & { brand: "id" }',
  anything: 'value: unknown',
  date: 'value: Date',
  bytes: 'value: Uint8Array',
  text: 'value?: string',
}
const asObject: { [name: string]: string } = {
  named: 'value: { id: string }',
  optional: 'value?: { id?: string }',
  nullable: 'value: { id: string } | undefined',
  combined: 'value: { id: string } & { at: Date }',
  partly: 'value: Partial<{ id: string; at: Date }>',
  destructured: '{ id }: { id: string }',
}

test('only an object with named properties is the object of all arguments', () => {
  const all = { ...byName, ...asObject }
  const functions = Object.entries(all).map(
    ([name, parameter]) => `/** D. */\nfunction ${name}(${parameter}) { return 1 }`,
  )
  const source = `import { LlmAgent } from 'toolwright'\n${functions.join('\n')}
export default new LlmAgent({ name: 'a', tools: [${Object.keys(all)}] })`
  const found = createProject({ 'tools.ts': source }).functions('tools.ts')
  const called = (isObject: boolean): unknown[] =>
    found.filter(({ call }) => call.some((one) => 'allArguments' in one) === isObject).map(({ name }) => name)
  expect(called(false)).toEqual(Object.keys(byName))
  expect(called(true)).toEqual(Object.keys(asObject))
})
