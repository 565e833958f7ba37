import { agentTool, LlmAgent, type Tool, tool } from 'toolwright'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { listedTool } from './listed-tool.ts'

const base = { name: 'count', description: 'Counts' }

test.each([
  ['none', { readOnlyHint: true }],
  ['idempotent', { readOnlyHint: false, idempotentHint: true }],
  ['atMostOnce', { readOnlyHint: false, idempotentHint: false }],
  [undefined, { readOnlyHint: false, idempotentHint: false }],
] as const)('the effect %s is shown as hints', (effect, annotations) => {
  expect(listedTool(tool({ ...base, effect, run: () => 1 }))?.annotations).toEqual(annotations)
})

test('an agent has no hints, because its tools may do anything', () => {
  expect(listedTool(agentTool(new LlmAgent({ name: 'desk' })))?.annotations).toBeUndefined()
})

test('a tool without parameters takes an object', () => {
  expect(listedTool(tool({ ...base, run: () => 1 }))?.inputSchema).toEqual({ type: 'object' })
})

test('a tool that only adds to model requests is not listed', () => {
  const passive: Tool = { ...base, declaration: () => undefined, run: () => undefined }
  expect(listedTool(passive)).toBeUndefined()
})

test('the output schema describes what the result is converted to', () => {
  const outputSchema = z.object({ count: z.number().default(0) })
  const listed = listedTool(tool({ ...base, outputSchema, run: () => ({}) }))
  expect(listed?.outputSchema).toMatchObject({ type: 'object', required: ['count'] })
})

test.each([
  ['a text', z.string()],
  ['a list', z.array(z.string())],
  ['a value that JSON Schema cannot describe', z.object({ at: z.string().transform((text) => text.length) })],
])('an output schema of %s is not shown', (_, outputSchema) => {
  expect(listedTool(tool({ ...base, outputSchema, run: () => 'x' as never }))?.outputSchema).toBeUndefined()
})

test('an output schema that cannot be checked, and that of a long-running tool, are not shown', () => {
  const responseJsonSchema = { type: 'object', $ref: 'http://127.0.0.1:1/remote.json' }
  const remote: Tool = { ...base, declaration: () => ({ ...base, responseJsonSchema }), run: () => ({}) }
  expect(listedTool(remote)?.outputSchema).toBeUndefined()
  const outputSchema = z.object({ count: z.number() })
  const slow = tool({ ...base, isLongRunning: true, outputSchema, run: () => ({ count: 1 }) })
  expect(listedTool(slow)?.outputSchema).toBeUndefined()
})
