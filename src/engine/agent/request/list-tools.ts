// Turns the `tools` option of an agent into the tools that its model can call.

import { kindOf } from '../../../core/base/kind-of.ts'
import type { Ports } from '../../../core/base/ports.ts'
import { withTimeout } from '../../../core/base/with-timeout.ts'
import type { AuthConfig } from '../../../core/content/auth.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import { checkAuthConfig } from '../../../services/auth/config/check-auth-config.ts'
import type { ReadonlyContext } from '../../context/context.ts'
import { CredentialRequired } from '../../context/credential-required.ts'
import { extendToolTable, refreshToolTable, type SourcedTool, type ToolTable } from '../../dispatch/resolve.ts'
import { aiSdkToolHint } from '../../tool/ai-sdk-tool-hint.ts'
import { toolOfFunction } from '../../tool/define-tool.ts'
import type { ToolFunction } from '../../tool/functions/tool-function.ts'
import { isTool } from '../../tool/tool.ts'
import { type DynamicToolSource, isDynamicSource, type ToolSource } from '../../tool/tool-source.ts'
import { isToolset, type Toolset } from '../../tool/toolset.ts'
import { type Agent, isAgent } from '../agents/agent.ts'
import type { KeptToolsets } from './kept-toolsets.ts'

/** Sources whose tools depend on the context. */
export type DynamicTools = Toolset | DynamicToolSource

/**
 * Splits nested lists into tools and dynamic sources, which are listed before each model call. Calls `refuse` with an
 * error for any other value.
 */
export function flattenSources(
  sources: ToolSource,
  source: string,
  refuse: (problem: ToolwrightError) => void = raise,
): { tools: SourcedTool[]; dynamic: DynamicTools[] } {
  const tools: SourcedTool[] = []
  const dynamic: DynamicTools[] = []
  const visit = (item: unknown, depth: number): void => {
    if (Array.isArray(item) && depth < 32) for (const inner of item) visit(inner, depth + 1)
    else if (isBuiltInAgent(item)) refuse(agentAmongTools(item, source))
    else if (isToolset(item) || isDynamicSource(item)) {
      const problem = authProblem(item)
      if (problem) refuse(problem)
      else dynamic.push(item)
    } else if (isTool(item)) tools.push({ tool: item, source })
    else if (typeof item === 'function') addFunction(item as ToolFunction)
    else {
      const message = `The tools of ${source} contain ${kindOf(item)}, which is not a tool, toolset or toolSource(). Use tool({ name, description, run }).${aiSdkToolHint(item)}`
      refuse(new ToolwrightError('INVALID_CONFIG', message))
    }
  }
  const addFunction = (fn: ToolFunction): void => {
    try {
      tools.push({ tool: toolOfFunction(fn, `The tools of ${source}`), source })
    } catch (error) {
      refuse(error as ToolwrightError) // a function that is no tool yet, or whose schema is invalid
    }
  }
  visit(sources, 0)
  return { tools, dynamic }
}

/** The error of a toolset whose `authConfig` is invalid. */
function authProblem(source: DynamicTools): ToolwrightError | undefined {
  if (!isToolset(source) || !source.authConfig) return undefined
  try {
    checkAuthConfig(source.authConfig, `Toolset "${source.name}"`)
    return undefined
  } catch (error) {
    if (error instanceof ToolwrightError) return error
    throw error
  }
}

/**
 * Is the value a built-in agent? An `LlmAgent` has a `listTools` method, so it would pass as a toolset. The calling
 * agent would get the tools of the other agent instead of the agent.
 */
function isBuiltInAgent(value: unknown): value is Agent {
  return isAgent(value) && Array.isArray(value.subAgents)
}

function agentAmongTools({ name }: Agent, source: string): ToolwrightError {
  return new ToolwrightError(
    'INVALID_CONFIG',
    `The tools of ${source} contain the agent "${name}". Use agentTool(${name}) to call it as a tool, or put it in subAgents to transfer the conversation to it.`,
  )
}

function raise(problem: ToolwrightError): never {
  throw problem
}

/** Time limit for one source to list its tools, in milliseconds. A source that takes longer is left out. */
const LIST_TIMEOUT_MS = 30_000

/** Dynamic sources can return further dynamic sources, at most this many levels deep. */
const MAX_NESTED_SOURCES = 8

/** A listing tries this many credentials: a server may refuse a stored token that it has revoked. */
const MAX_CREDENTIALS = 3

/** Options of `listTools`. */
export interface ListingOptions {
  /** The context that is passed to the sources. */
  readonly context: ReadonlyContext
  /** The toolsets that sources returned in earlier listings. */
  readonly kept: KeptToolsets
  /** The timer for the time limit. */
  readonly ports: Pick<Ports, 'setTimer'>
  /** The context for a toolset with an `authConfig`. Undefined while its credential is requested. */
  contextFor?(toolset: Toolset, authConfig: AuthConfig): Promise<ReadonlyContext | undefined>
  /** Called with each problem, for the operator. */
  report(problem: string): void
}

/** Extends a table with the tools that dynamic sources list. A source that fails or hangs is left out and reported. */
export function listTools(
  sources: readonly DynamicTools[],
  table: ToolTable,
  listing: ListingOptions,
): ToolTable | Promise<ToolTable> {
  if (sources.length === 0) return table
  const known = extended.get(table)
  const isUnchanged = known?.revisions.every(
    (revision, at) => revision !== undefined && revision === revisionOf(sources[at], listing),
  )
  if (known && isUnchanged) return refreshToolTable(known.table, { warn: listing.report })
  return extendTable(sources, table, listing)
}

async function extendTable(
  sources: readonly DynamicTools[],
  table: ToolTable,
  listing: ListingOptions,
): Promise<ToolTable> {
  // read before the listing: a change during the listing must not pass for a listed one
  const revisions = sources.map((source) => revisionOf(source, listing))
  let isComplete = true
  const report = (problem: string): void => {
    isComplete = false
    listing.report(problem)
  }
  const listed = (await Promise.all(sources.map((one) => listSource(one, { ...listing, report }, 0)))).flat()
  const known = extended.get(table)
  if (known && isSameList(known.listed, listed)) {
    if (isComplete) extended.set(table, { ...known, revisions })
    return refreshToolTable(known.table, { warn: listing.report })
  }
  const made = extendToolTable(table, listed, report)
  if (isComplete) extended.set(table, { listed, table: made, revisions }) // else the problems are reported again
  return made
}

interface ExtendedTable {
  /** The tools that the sources listed. */
  readonly listed: readonly SourcedTool[]
  readonly table: ToolTable
  /** What `revision` of each source returned before the listing. */
  readonly revisions: readonly unknown[]
}

/** The latest extension of each table. Most listings are equal to the one before. */
const extended: WeakMap<ToolTable, ExtendedTable> = new WeakMap()

/** The revision of a toolset; undefined if its tools must be listed again. */
function revisionOf(source: DynamicTools | undefined, { context, report }: ListingOptions): unknown {
  if (!isToolset(source) || source.authConfig) return undefined
  try {
    return source.revision?.(context)
  } catch (error) {
    report(`revision() of toolset "${source.name}" threw: ${messageOf(error)}`)
    return undefined
  }
}

function isSameList(one: readonly SourcedTool[], other: readonly SourcedTool[]): boolean {
  return one.length === other.length && one.every(({ tool }, at) => tool === other[at]?.tool)
}

async function listSource(source: DynamicTools, listing: ListingOptions, depth: number): Promise<SourcedTool[]> {
  const name = `${isToolset(source) ? 'toolset' : 'tool source'} "${source.name}"`
  const { report } = listing
  try {
    if (depth > MAX_NESTED_SOURCES)
      throw new Error(
        `tool sources are nested more than ${MAX_NESTED_SOURCES} levels deep. Return tools instead of another tool source.`,
      )
    const { tools, dynamic } = flattenSources(await listOne(source, listing), name, (problem) =>
      report(`A tool is left out: ${problem.message}`),
    )
    if (!isToolset(source)) keepToolsets(source, dynamic, listing)
    const inner = await Promise.all(dynamic.map((nested) => listSource(nested, listing, depth + 1)))
    return [...tools, ...inner.flat()]
  } catch (error) {
    report(`The tools of ${name} are left out: ${messageOf(error)}`)
    return []
  }
}

async function listOne(source: DynamicTools, listing: ListingOptions): Promise<ToolSource> {
  if (!isToolset(source)) return await listInTime(source, listing.context, listing)
  const { authConfig } = source
  let context = authConfig ? await authorizedContext(source, authConfig, listing) : listing.context
  for (let credentials = 1; context; credentials++) {
    try {
      return await listInTime(source, context, listing)
    } catch (error) {
      if (!(error instanceof CredentialRequired) || credentials > MAX_CREDENTIALS) throw error
      context = await authorizedContext(source, error.authConfig, listing)
    }
  }
  return []
}

async function listInTime(
  source: DynamicTools,
  context: ReadonlyContext,
  listing: ListingOptions,
): Promise<ToolSource> {
  const { kept, ports } = listing
  const listed = isToolset(source) ? source.listTools(context) : kept.list(source, context)
  if (typeof listed !== 'object' || listed === null || !('then' in listed)) return listed
  const given = Promise.resolve<ToolSource>(listed)
  return await withTimeout(given, LIST_TIMEOUT_MS, ports, () => {
    if (!isToolset(source)) {
      kept.forget(source, given)
      const keep = (late: ToolSource): void => keepToolsets(source, flattenSources(late, '', () => {}).dynamic, listing)
      given.then(keep).catch(() => {})
    }
    throw new Error(`listing the tools took longer than ${LIST_TIMEOUT_MS} ms`)
  })
}

/** The context with the credential of a toolset. Undefined while the credential is requested. */
async function authorizedContext(
  toolset: Toolset,
  authConfig: AuthConfig,
  listing: ListingOptions,
): Promise<ReadonlyContext | undefined> {
  if (!listing.contextFor) throw new Error('it needs a credential, which only a run can request')
  return await listing.contextFor(toolset, authConfig)
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
