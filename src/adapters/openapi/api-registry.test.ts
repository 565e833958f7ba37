import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LlmAgent } from '../../engine/agent/agents/llm-agent.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createToolContext } from '../testing/tool-context.ts'
import { ApiRegistry } from './api-registry.ts'
import { documentOf } from './api-server.test-kit.ts'

const pets = documentOf({ '/pets': { get: { operationId: 'list_pets' } } })

test('the tools of a registry go straight into an agent', async () => {
  const specPath = join(tmpdir(), `toolwright-${crypto.randomUUID()}.json`)
  await writeFile(specPath, JSON.stringify(pets))
  const registry = new ApiRegistry()
  registry.registerOpenApiSpec({ specPath, baseUrl: 'https://petstore.example' })
  registry.registerOpenApiSpec({ spec: pets, baseUrl: 'https://other.example', prefix: 'other_' })
  const tools = registry.getTools()
  for (const given of [tools, [...tools]]) {
    const agent = new LlmAgent({ name: 'desk', model: scriptedModel([]), tools: given })
    const listed = await agent.listTools(createToolContext())
    expect(listed.map(({ name }) => name)).toEqual(['list_pets', 'other_list_pets'])
  }
})

test('a file that is missing is named, and one of specPath and spec is needed', async () => {
  const registry = new ApiRegistry().registerOpenApiSpec({ specPath: '/nowhere/petstore.json' })
  await expect(registry.getTools()[0]?.listTools(createToolContext())).rejects.toThrow(
    'The OpenAPI document cannot be read from "/nowhere/petstore.json"',
  )
  expect(() => registry.registerOpenApiSpec({})).toThrow('exactly one of specPath and spec')
  expect(() => registry.registerOpenApiSpec({ spec: pets, specPath: 'x' })).toThrow('exactly one')
})
