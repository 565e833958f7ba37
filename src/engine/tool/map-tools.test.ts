import { LlmAgent, prefixTools, StaticToolset, type ToolSource, tool, toolSource } from 'toolwright'
import { createToolContext, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { mapTools } from './map-tools.ts'

const make = (name: string) => tool({ name, description: name, run: () => name })

async function namesOf(source: ToolSource): Promise<string[]> {
  const agent = new LlmAgent({ name: 'a', model: scriptedModel([]), tools: [source] })
  return (await agent.listTools(createToolContext())).map(({ name }) => name)
}

test('tools are left out wherever they come from, and toolsets are named', async () => {
  let listings = 0
  const books = prefixTools(new StaticToolset([make('keep'), make('drop')], { name: 'books' }), 'b_')
  const keyed = toolSource(
    () => {
      listings++
      return [make('s_keep'), [make('s_drop')], new StaticToolset([make('i_drop'), make('i_keep')], { name: 'inner' })]
    },
    { name: 'source', key: () => 'k' },
  )
  const seen = new Map<string, string | undefined>()
  const mapped = mapTools([make('keep'), [make('drop')], books, keyed], (one, toolset) => {
    seen.set(one.name, toolset)
    return one.name.endsWith('drop') ? undefined : one
  })
  expect(await namesOf(mapped)).toEqual(['keep', 'b_keep', 's_keep', 'i_keep'])
  expect(Object.fromEntries(seen)).toMatchObject({ b_keep: 'books', s_keep: 'source', i_keep: 'inner' })
  expect(seen.get('keep')).toBe(undefined)
  expect(listings).toBe(1)
})
