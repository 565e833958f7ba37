// Runs examples/openapi: an agent whose tools are the operations of a document, and the API that the document describes.
import { expect, test } from 'vitest'
import { node } from './child.ts'

test('examples/openapi lists pets, and deletes one after an approval', { timeout: 60_000 }, async () => {
  const { code, out } = await node(['examples/openapi/main.ts'])
  expect(out).toContain('> List the pets.\nStatus: 200, body: pets: Minka (kind: cat).\n')
  expect(out).toMatch(/Approve DELETE \/pets\/\{name\} at http:\/\/127\.0\.0\.1:\d+\? \{"name":"Minka"\}\n/)
  expect(out).toContain('(deleted: Minka)')
  expect(out).toMatch(/> List the pets\.\nStatus: 200, body: \(pets: none\)\.\n$/)
  expect(code).toBe(0)
})
