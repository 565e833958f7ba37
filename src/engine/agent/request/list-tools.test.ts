import { expect, test } from 'vitest'
import { systemPorts } from '../../../core/base/ports.ts'
import type { ReadonlyContext } from '../../context/context.ts'
import { makeToolTable, type ToolTable } from '../../dispatch/resolve.ts'
import { tool } from '../../tool/define-tool.ts'
import type { Tool } from '../../tool/tool.ts'
import type { Toolset } from '../../tool/toolset.ts'
import { KeptToolsets } from './kept-toolsets.ts'
import { listTools } from './list-tools.ts'

const old = tool({ name: 'old', description: 'Old.', run: () => 'old' })
const added = tool({ name: 'added', description: 'Added.', run: () => 'added' })
const other = tool({ name: 'other', description: 'Other.', run: () => 'other' })

/** A toolset whose tools the test changes. */
class ChangingToolset implements Toolset {
  readonly name = 'changing'
  tools: readonly Tool[] = [old]
  listings = 0
  #revision = {}

  change(tools: readonly Tool[]): void {
    this.tools = tools
    this.#revision = {}
  }
  async listTools(): Promise<readonly Tool[]> {
    this.listings++
    return this.tools
  }
  revision(): unknown {
    return this.#revision
  }
}

async function list(sources: readonly Toolset[], table: ToolTable): Promise<string[]> {
  const options = { context: {} as ReadonlyContext, kept: new KeptToolsets(), ports: systemPorts, report: () => {} }
  return [...(await listTools(sources, table, options)).tools.keys()]
}

test('lists a toolset again only after its revision has changed', async () => {
  const toolset = new ChangingToolset()
  const table = makeToolTable([])
  expect(await list([toolset], table)).toEqual(['old'])
  expect(await list([toolset], table)).toEqual(['old'])
  expect(toolset.listings).toBe(1)
  toolset.change([added])
  expect(await list([toolset], table)).toEqual(['added'])
})

test('lists a toolset again that changed while another toolset was listed', async () => {
  const toolset = new ChangingToolset()
  const slow = Promise.withResolvers<readonly Tool[]>()
  const sources = [toolset, { name: 'slow', listTools: () => slow.promise, revision: () => 'fixed' }]
  const table = makeToolTable([])
  const listing = list(sources, table)
  await Promise.resolve()
  toolset.change([added])
  slow.resolve([other])
  expect(await listing).toEqual(['old', 'other'])
  expect(await list(sources, table)).toEqual(['added', 'other'])
})
