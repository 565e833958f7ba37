// From the name a model said to the tool that answers to it.
import { closest } from '../base/closest.ts'
import { canonicalJson, type JsonObject } from '../base/json.ts'
import type { FunctionDeclaration, Part } from '../content/content.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import { CHECKS_RESULT } from '../policy/redact.ts'
import { compileSchema } from '../schema/compile.ts'
import type { Parsed } from '../schema/parsed.ts'
import { checkTool } from '../tool/check-tool.ts'
import { notePending } from '../tool/define-pending.ts'
import { isSameServerTool } from '../tool/server-tool.ts'
import { nameProblem, type Tool } from '../tool/tool.ts'
import type { WireTool } from '../tool/wire.ts'

/** A tool with everything that can be made ready before it is called. */
export interface ToolEntry {
  readonly tool: Tool
  /** Undefined = passive. */
  readonly declaration: FunctionDeclaration | undefined
  /** What `declaration()` of the tool returned when it was made ready. */
  readonly declared: FunctionDeclaration | undefined
  /** The gate the tool had when it was made ready: callbacks get the tool itself and must not be able to open it. */
  readonly gate: Tool['requiresConfirmation']
  parse(args: unknown): Parsed | Promise<Parsed>
  /** Checks results, when the tool says what they look like. */
  readonly parseResult: ((result: unknown) => Parsed | Promise<Parsed>) | undefined
}

/** The tools one reply may call. */
export interface ToolTable {
  readonly entries: ReadonlyMap<string, ToolEntry>
  readonly tools: ReadonlyMap<string, Tool>
  /** As they go into a request; the same array every time. */
  readonly wire: readonly WireTool[]
  /** Those that want to change the request. */
  readonly processors: readonly Tool[]
  /** Is one of them long-running? */
  readonly hasLongRunning: boolean
}

/** A tool and where it came from, for error messages. */
export interface SourcedTool {
  readonly tool: Tool
  readonly source: string
}

/** Makes tools ready; a bad name, a bad schema or a name used twice is an error that says what to change. */
export function makeToolTable(sourced: readonly SourcedTool[]): ToolTable {
  const entries = new Map<string, ToolEntry>()
  const sources = new Map<string, string>()
  for (const { tool, source } of sourced) {
    const entry = entryOf(tool)
    const taken = sources.get(tool.name)
    if (taken !== undefined && isSameServerTool((entries.get(tool.name) as ToolEntry).tool, tool)) continue
    if (taken !== undefined) {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `Tool "${tool.name}" is defined twice${taken === source ? ` in ${source}` : `: in ${taken} and in ${source}`}. Rename one, or use prefixTools().`,
      )
    }
    entries.set(tool.name, entry)
    sources.set(tool.name, source)
  }
  return tableOf(entries)
}

/** The same table with more tools, as far as their names are free and they are sound; the others are reported. */
export function extendToolTable(
  table: ToolTable,
  sourced: readonly SourcedTool[],
  report: (problem: string) => void,
): ToolTable {
  const entries = new Map(table.entries)
  for (const { tool, source } of sourced) {
    try {
      if (entries.has(tool.name)) throw new Error('the name is already taken; use prefixTools()')
      entries.set(tool.name, entryOf(tool))
    } catch (error) {
      report(`Tool "${String(tool?.name)}" of ${source} is left out: ${messageOf(error)}`)
    }
  }
  return tableOf(entries)
}

function tableOf(entries: ReadonlyMap<string, ToolEntry>): ToolTable {
  const all = [...entries.values()]
  const tools = new Map(all.map(({ tool }) => [tool.name, tool]))
  const functionDeclarations = all.flatMap(({ declaration }) => (declaration ? [declaration] : []))
  return {
    entries,
    tools,
    wire: functionDeclarations.length ? [{ functionDeclarations }] : [],
    processors: all.flatMap(({ tool }) => (tool.processLlmRequest ? [tool] : [])),
    hasLongRunning: all.some(({ tool }) => tool.isLongRunning),
  }
}

const known: WeakMap<Tool, ToolEntry> = new WeakMap()

/** One tool, made ready. A tool that declares something else than before is made ready again. */
export function entryOf(tool: Tool): ToolEntry {
  let entry = known.get(tool)
  if (entry && isCurrent(entry)) return entry
  const problem = nameProblem(tool.name)
  if (problem) throw new ToolwrightError('INVALID_CONFIG', `Tool "${String(tool.name)}" cannot be used: ${problem}.`)
  checkTool(tool)
  const declared = tool.declaration()
  const declaration = declared && tool.isLongRunning ? notePending(declared) : declared
  if (declaration && declaration.name !== tool.name) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `Tool "${tool.name}" declares itself as "${declaration.name}": both must be the same.`,
    )
  }
  const what = `Tool "${tool.name}"`
  const isChecked = (tool as { [CHECKS_RESULT]?: boolean })[CHECKS_RESULT] === true
  const { outputSchema } = tool
  const result = outputSchema === undefined || isChecked ? undefined : compileSchema(outputSchema, `${what}, output`)
  entry = {
    tool,
    declaration,
    declared,
    // a getter decides anew for each call
    gate: Object.getOwnPropertyDescriptor(tool, 'requiresConfirmation')?.value,
    parse: parserOf(tool, declaration?.parametersJsonSchema, what),
    parseResult: result && ((value) => result.parse(value)),
  }
  known.set(tool, entry)
  return entry
}

/** Does the tool still declare what it declared when it was made ready? */
function isCurrent({ tool, declared }: ToolEntry): boolean {
  const now = tool.declaration()
  if (now === declared) return true
  return now !== undefined && declared !== undefined && canonicalJson(now) === canonicalJson(declared)
}

/** The table with the present declarations of its tools; the same table when none has changed. */
export function refreshed(table: ToolTable, logger: { warn(problem: string): void }): ToolTable {
  let entries: Map<string, ToolEntry> | undefined
  for (const [name, entry] of table.entries) {
    try {
      if (isCurrent(entry)) continue
      const current = entryOf(entry.tool)
      entries ??= new Map(table.entries)
      entries.set(name, current)
    } catch (error) {
      logger.warn(`Tool "${name}" keeps its earlier declaration: ${messageOf(error)}`)
    }
  }
  return entries ? tableOf(entries) : table
}

/** What the tool demands now, and never less than it demanded when it was made ready. */
export function gateOf({ tool, gate }: ToolEntry): Tool['requiresConfirmation'] {
  return gate && tool.requiresConfirmation !== true ? gate : tool.requiresConfirmation
}

function parserOf(tool: Tool, schema: JsonObject | undefined, what: string): ToolEntry['parse'] {
  if (tool.parse) return (args) => (tool.parse as NonNullable<Tool['parse']>).call(tool, args)
  if (!schema) return (value) => ({ value })
  const compiled = compileSchema(schema, what, { object: true })
  return (args) => compiled.parse(args)
}

/** The ids of the calls among these parts whose tools are long-running; undefined when there are none. */
export function longRunningIds(table: ToolTable, parts: readonly Part[]): string[] | undefined {
  if (!table.hasLongRunning) return undefined
  const ids = parts.flatMap(({ functionCall: call }) =>
    call?.id !== undefined && table.tools.get(call.name)?.isLongRunning ? [call.id] : [],
  )
  return ids.length ? ids : undefined
}

/** What to tell a model that called a tool that is not there. */
export function unknownTool(table: ToolTable, name: string): string {
  const names = [...table.entries.values()].flatMap(({ tool, declaration }) => (declaration ? [tool.name] : []))
  const close = closest(name, names)
  if (names.length === 0) return `Unknown tool "${clip(name)}". There are no tools.`
  return `Unknown tool "${clip(name)}". ${close.length ? `Did you mean ${list(close)}?` : `There are ${list(names.slice(0, 20))}${names.length > 20 ? ' and others' : ''}.`}`
}

const clip = (name: string): string => (name.length > 64 ? `${name.slice(0, 64)}...` : name)
const list = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ')
