// From what people write as `tools` to what can be called.

import { kindOf } from '../../base/kind-of.ts'
import type { Ports } from '../../base/ports.ts'
import { withTimeout } from '../../base/with-timeout.ts'
import { extendToolTable, type SourcedTool, type ToolTable } from '../../dispatch/resolve.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import { bareFunction } from '../../tool/bare-function.ts'
import type { ReadonlyContext } from '../../tool/context.ts'
import { aiSdkToolHint } from '../../tool/define.ts'
import { isTool } from '../../tool/tool.ts'
import { type DynamicToolSource, isDynamicSource, type ToolSource } from '../../tool/tool-source.ts'
import { isToolset, type Toolset } from '../../tool/toolset.ts'
import { type Agent, isAgent } from '../agents/agent.ts'
import type { KeptToolsets } from './kept-toolsets.ts'

/** Tools that depend on who asks. */
export type DynamicTools = Toolset | DynamicToolSource

/** Nested arrays become one list: what is a tool now, and what must be asked later. Anything else is for `refuse`. */
export function flattenSources(
  sources: ToolSource,
  source: string,
  refuse: (problem: ToolwrightError) => void = raise,
): { tools: SourcedTool[]; dynamic: DynamicTools[] } {
  const tools: SourcedTool[] = []
  const dynamic: DynamicTools[] = []
  const visit = (one: unknown, depth: number): void => {
    if (Array.isArray(one) && depth < 32) for (const inner of one) visit(inner, depth + 1)
    else if (isBuiltInAgent(one)) refuse(agentAmongTools(one, source))
    else if (isToolset(one) || isDynamicSource(one)) dynamic.push(one)
    else if (isTool(one)) tools.push({ tool: one, source })
    else if (typeof one === 'function') refuse(bareFunction(one, `The tools of ${source}`))
    else {
      const message = `The tools of ${source} hold something that is no tool, toolset or toolSource(), but ${kindOf(one)}. Use tool({ name, description, run }).${aiSdkToolHint(one)}`
      refuse(new ToolwrightError('INVALID_CONFIG', message))
    }
  }
  visit(sources, 0)
  return { tools, dynamic }
}

/** An `LlmAgent` has `listTools` like a toolset; taken for one, it would lend its tools and never answer itself. */
function isBuiltInAgent(value: unknown): value is Agent {
  return isAgent(value) && Array.isArray(value.subAgents)
}

function agentAmongTools({ name }: Agent, source: string): ToolwrightError {
  return new ToolwrightError(
    'INVALID_CONFIG',
    `The tools of ${source} hold the agent "${name}". Wrap it, agentTool(${name}), to call it like a tool; or put it in subAgents to hand the conversation over to it.`,
  )
}

function raise(problem: ToolwrightError): never {
  throw problem
}

/** A source that takes longer to list its tools is left out. */
const LIST_MS = 30_000

/** Who asks for tools. */
export interface ListingOptions {
  readonly context: ReadonlyContext
  readonly kept: KeptToolsets
  readonly ports: Pick<Ports, 'setTimer'>
  report(problem: string): void
}

/** A table with what its dynamic sources list for this context. One that fails or hangs is left out and reported. */
export async function listTools(
  sources: readonly DynamicTools[],
  table: ToolTable,
  listing: ListingOptions,
): Promise<ToolTable> {
  if (sources.length === 0) return table
  const listed = await Promise.all(sources.map((source) => ask(source, listing, 0)))
  return extendToolTable(table, listed.flat(), listing.report)
}

async function ask(source: DynamicTools, listing: ListingOptions, depth: number): Promise<SourcedTool[]> {
  const name = `${isToolset(source) ? 'toolset' : 'tool source'} "${source.name}"`
  const { report } = listing
  try {
    if (depth > 8) throw new Error('tool sources are nested too deep')
    const { tools, dynamic } = flattenSources(await listOne(source, listing), name, (problem) =>
      report(`Left out: ${problem.message}`),
    )
    if (!isToolset(source)) keepToolsets(source, dynamic, listing)
    const inner = await Promise.all(dynamic.map((one) => ask(one, listing, depth + 1)))
    return [...tools, ...inner.flat()]
  } catch (error) {
    report(`The tools of ${name} are left out: ${messageOf(error)}`)
    return []
  }
}

async function listOne(source: DynamicTools, listing: ListingOptions): Promise<ToolSource> {
  const { context, kept, ports } = listing
  const listed = isToolset(source) ? source.listTools(context) : kept.list(source, context)
  if (typeof listed !== 'object' || listed === null || !('then' in listed)) return listed
  const given = Promise.resolve<ToolSource>(listed)
  return await withTimeout(given, LIST_MS, ports, () => {
    if (!isToolset(source)) {
      kept.forget(source, given)
      const keep = (late: ToolSource): void => keepToolsets(source, flattenSources(late, '', () => {}).dynamic, listing)
      given.then(keep).catch(() => {})
    }
    throw new Error(`listing them took longer than ${LIST_MS} ms`)
  })
}

function keepToolsets(
  source: DynamicToolSource,
  dynamic: readonly DynamicTools[],
  { kept, report }: ListingOptions,
): void {
  for (const one of dynamic) {
    const warning = isToolset(one) ? kept.add(source, one) : undefined
    if (warning !== undefined) report(warning)
  }
}
