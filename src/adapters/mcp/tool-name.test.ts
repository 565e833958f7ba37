import { expect, test } from 'vitest'
import { toToolName } from './tool-name.ts'

test.each(['read_file', 'get-sum', '_x', 'a'.repeat(64)])('keeps a name that every model accepts: %s', async (name) => {
  expect(await toToolName(name, '')).toBe(name)
})

test('puts the prefix before the name', async () => {
  expect(await toToolName('read', 'files_')).toBe('files_read')
})

const mapped = [
  'a/b',
  'a.b',
  'a b',
  '1st',
  '-x',
  'a'.repeat(65),
  'n\u00e4me',
  '',
  'adk_request_input',
  'transfer_to_agent',
]
test.each(mapped)('maps "%s" to an accepted name that is no name of the framework', async (name) => {
  const made = await toToolName(name, '')
  expect(made).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
  expect(made).not.toMatch(/^adk_request/)
  expect(made).not.toBe(name)
  expect(await toToolName(name, '')).toBe(made) // the same in every process
})

test('gives different names different results', async () => {
  const made = await Promise.all(['a/b', 'a.b', 'a b', 'a:b'].map((name) => toToolName(name, '')))
  expect(new Set(made).size).toBe(4)
})

test('maps a name that becomes one of the framework with its prefix', async () => {
  expect(await toToolName('request_confirmation', 'adk_')).toMatch(/^_adk_request_confirmation_/)
})
