// From the name a model said to the tool that answers to it.
import { closestNames } from '../base/closest-names.ts'
import { canonicalJson, type JsonObject } from '../base/json.ts'
import type { FunctionDeclaration, Part } from '../content/content.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import { CHECKS_RESULT } from '../policy/redact.ts'
import { compileSchema } from '../schema/compile.ts'
import type { Parsed } from '../schema/issues.ts'
import { kindOfTool, type ToolKind } from '../tool/agent-mark.ts'
import { checkTool } from '../tool/check-tool.ts'
import { notePending } from '../tool/define-pending.ts'
import { builtTool } from '../tool/late-declaration.ts'
import { isSameServerTool } from '../tool/server-tool.ts'
import { nameProblem, type Tool } from '../tool/tool.ts'
import type { WireTool } from '../tool/wire.ts'

/** A tool with everything that can be made ready before it is called. */
export interface ToolEntry {
  readonly tool: Tool
  /** How its calls run. */
  readonly kind: ToolKind
  /** Has no declaration: not advertised, never dispatched. */
  readonly isPassive: boolean
  /** Undefined = passive. */
  readonly declaration: FunctionDeclaration | undefined
  /** `tool()` made its declaration, which never changes. */
  readonly isFixed: boolean
  /** What `declaration()` of a tool written by hand returned when it was made ready. */
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
  /** Is there a tool that a model can call? */
  readonly hasDeclarations: boolean
  /** The declarations for a request, once made; `declare()` makes them for the first request. */
  readonly wire: readonly WireTool[] | undefined
  declare(): readonly WireTool[]
  /** Those that want to change the request. */
  readonly processors: readonly Tool[]
  /** Is one of them long-running? */
  readonly hasLongRunning: boolean
  /** Those written by hand, whose declarations may change. */
  readonly changeable: readonly ToolEntry[]
}

/** A tool and where it came from, for error messages. */
export interface SourcedTool {
  readonly tool: Tool
  readonly source: string
}

/** Makes tools ready; a bad name, a bad schema or a name used twice is an error that says what to change. */
export function makeToolTable(sourced: readonly SourcedTool[]): ToolTable {
  const entries = new Map<string, ToolEntry>()
  for (const { tool, source } of sourced) {
    const entry = entryOf(tool)
    const taken = entries.get(tool.name)?.tool
    if (taken === undefined) entries.set(tool.name, entry)
    else if (!isSameServerTool(taken, tool)) {
      const other = sourced.find((one) => one.tool === taken)?.source
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `Tool "${tool.name}" is defined twice${other === source ? ` in ${source}` : `: in ${other} and in ${source}`}. Rename one, or use prefixTools().`,
      )
    }
  }
  return new Table(entries)
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
  return new Table(entries)
}

class Table implements ToolTable {
  readonly entries: ReadonlyMap<string, ToolEntry>
  readonly tools: ReadonlyMap<string, Tool>
  readonly processors: readonly Tool[]
  readonly hasDeclarations: boolean
  readonly hasLongRunning: boolean
  readonly changeable: readonly ToolEntry[]
  wire: readonly WireTool[] | undefined

  constructor(entries: ReadonlyMap<string, ToolEntry>) {
    const tools = new Map<string, Tool>()
    const processors: Tool[] = []
    const changeable: ToolEntry[] = []
    let hasDeclarations = false
    let hasLongRunning = false
    for (const [name, entry] of entries) {
      const { tool, isPassive, isFixed } = entry
      tools.set(name, tool)
      if (tool.processLlmRequest) processors.push(tool)
      if (!isFixed) changeable.push(entry)
      if (!isPassive) hasDeclarations = true
      if (tool.isLongRunning) hasLongRunning = true
    }
    this.entries = entries
    this.tools = tools
    this.processors = processors
    this.changeable = changeable
    this.hasDeclarations = hasDeclarations
    this.hasLongRunning = hasLongRunning
  }

  declare(): readonly WireTool[] {
    const functionDeclarations: FunctionDeclaration[] = []
    for (const { declaration } of this.entries.values()) if (declaration) functionDeclarations.push(declaration)
    this.wire = functionDeclarations.length ? [{ functionDeclarations }] : []
    return this.wire
  }
}

class Entry implements ToolEntry {
  readonly tool: Tool
  readonly kind: ToolKind
  readonly gate: Tool['requiresConfirmation']
  readonly isPassive: boolean
  readonly isFixed: boolean
  readonly declared: FunctionDeclaration | undefined
  readonly parse: ToolEntry['parse']
  readonly parseResult: ToolEntry['parseResult']
  #declaration: FunctionDeclaration | undefined
  #declare: (() => FunctionDeclaration | undefined) | undefined

  /** `built` is the tool as `tool()` made it, if it did. */
  constructor(tool: Tool, built: Tool | undefined) {
    const isLate = built === tool || (built?.name === tool.name && tool.parse !== undefined)
    const declared = isLate ? undefined : declarationOf(tool)
    this.tool = tool
    this.kind = kindOfTool(tool)
    this.isPassive = !isLate && declared === undefined
    this.isFixed = isLate
    this.declared = declared
    this.#declaration = withPendingNote(tool, declared)
    this.#declare = isLate ? tool.declaration : undefined
    // a getter decides anew for each call
    this.gate = Object.getOwnPropertyDescriptor(tool, 'requiresConfirmation')?.value
    this.parse = built === tool && tool.parse ? tool.parse : parserOf(tool, declared?.parametersJsonSchema)
    this.parseResult = resultParserOf(tool)
  }

  get declaration(): FunctionDeclaration | undefined {
    if (this.#declare) {
      this.#declaration = withPendingNote(this.tool, this.#declare())
      this.#declare = undefined
    }
    return this.#declaration
  }
}

/** Long-running tools say that their result comes later, however they were made. */
function withPendingNote(tool: Tool, declaration: FunctionDeclaration | undefined): FunctionDeclaration | undefined {
  return declaration && tool.isLongRunning ? notePending(declaration) : declaration
}

function declarationOf(tool: Tool): FunctionDeclaration | undefined {
  const declaration = tool.declaration()
  if (declaration && declaration.name !== tool.name) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `Tool "${tool.name}" declares itself as "${declaration.name}": both must be the same.`,
    )
  }
  return declaration
}

const known: WeakMap<Tool, ToolEntry> = new WeakMap()

/** One tool, made ready. A tool that declares something else than before is made ready again. */
export function entryOf(tool: Tool): ToolEntry {
  let entry = known.get(tool)
  if (entry && isCurrent(entry)) return entry
  const built = builtTool(tool)
  if (built !== tool) {
    const problem = nameProblem(tool.name)
    if (problem) throw new ToolwrightError('INVALID_CONFIG', `Tool "${String(tool.name)}" cannot be used: ${problem}.`)
    checkTool(tool)
  }
  entry = new Entry(tool, built)
  known.set(tool, entry)
  return entry
}

/** Does the tool still declare what it declared when it was made ready? */
function isCurrent({ tool, declared, isFixed }: ToolEntry): boolean {
  if (isFixed) return true
  const now = tool.declaration()
  if (now === declared) return true
  return now !== undefined && declared !== undefined && canonicalJson(now) === canonicalJson(declared)
}

/** The table with the present declarations of its tools; the same table when none has changed. */
export function refreshToolTable(table: ToolTable, logger: { warn(problem: string): void }): ToolTable {
  let entries: Map<string, ToolEntry> | undefined
  for (const entry of table.changeable) {
    const { name } = entry.tool
    try {
      if (isCurrent(entry)) continue
      const current = entryOf(entry.tool)
      entries ??= new Map(table.entries)
      entries.set(name, current)
    } catch (error) {
      logger.warn(`Tool "${name}" keeps its earlier declaration: ${messageOf(error)}`)
    }
  }
  return entries ? new Table(entries) : table
}

/** What the tool demands now, and never less than it demanded when it was made ready. */
export function gateOf({ tool, gate }: ToolEntry): Tool['requiresConfirmation'] {
  return gate && tool.requiresConfirmation !== true ? gate : tool.requiresConfirmation
}

function parserOf(tool: Tool, schema: JsonObject | undefined): ToolEntry['parse'] {
  if (tool.parse) return (args) => (tool.parse as NonNullable<Tool['parse']>).call(tool, args)
  if (!schema) return (value) => ({ value })
  return compileSchema(schema, `Tool "${tool.name}"`, { object: true }).parse
}

function resultParserOf(tool: Tool): ToolEntry['parseResult'] {
  const { outputSchema } = tool
  const isChecked = (tool as { [CHECKS_RESULT]?: boolean })[CHECKS_RESULT] === true
  if (outputSchema === undefined || isChecked) return undefined
  return compileSchema(outputSchema, `Tool "${tool.name}", output`).parse
}

/** The tool that answers a call of a reply: one of its table, or the code executor. */
export function entryFor(
  batch: { readonly table: ToolTable; readonly code: ToolEntry | undefined },
  call: { readonly isCode: boolean; readonly name: string },
): ToolEntry | undefined {
  return call.isCode ? batch.code : batch.table.entries.get(call.name)
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
  const names = [...table.entries.values()].flatMap(({ tool, isPassive }) => (isPassive ? [] : [tool.name]))
  const close = closestNames(name, names)
  if (names.length === 0) return `Unknown tool "${clip(name)}". There are no tools.`
  return `Unknown tool "${clip(name)}". ${close.length ? `Did you mean ${list(close)}?` : `There are ${list(names.slice(0, 20))}${names.length > 20 ? ' and others' : ''}.`}`
}

const clip = (name: string): string => (name.length > 64 ? `${name.slice(0, 64)}...` : name)
const list = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ')
