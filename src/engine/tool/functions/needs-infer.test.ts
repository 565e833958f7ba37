import { expect, test } from 'vitest'
import { needsInferError } from './needs-infer.ts'

function search(): void {}

test('needsInferError() names the function and the four ways to read its types', () => {
  const { code, message } = needsInferError(search)
  expect(code).toBe('NEEDS_INFER')
  expect(message).toContain('tool() got the function "search"')
  expect(message).toContain('npx toolwright run')
  expect(message).toContain('node --import toolwright/infer/register')
  expect(message).toMatch(/toolwright\/infer\/vite, vitest, rollup, rolldown, tsdown, esbuild, webpack or rspack/)
  expect(message).toContain('npx toolwright infer')
})

test('needsInferError() says where the function is, what to install and what to write instead', () => {
  const { message } = needsInferError(search, 'The tools of agent "a"')
  expect(message).toContain('The tools of agent "a" contain the function "search"')
  expect(message).toContain('npm install --save-dev typescript-5@npm:typescript@5')
  expect(message).toMatch(/tool\(\{ name, description, parameters, run \}\).*toolSource\(fn\)/)
})

test('needsInferError() describes a function without a name', () => {
  expect(needsInferError(() => 1).message).toContain('the function without a name')
})

test('needsInferError() says to call a function that makes tools, and to instantiate a class', () => {
  const made = (): string => 'a tool'
  class Orders {}
  expect(needsInferError(made).message).toContain('If it makes a tool or a toolset, call it: made().')
  expect(needsInferError((url: string) => url).message).toContain('If it makes a tool or a toolset, call it.')
  expect(needsInferError(Orders as never).message).toContain('It is a class. If it makes tools, write new Orders(...).')
})
