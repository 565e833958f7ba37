// The table of tools a model may call, and the lookup by name.
import { closestNames } from '../../core/base/closest-names.ts'
import { canonicalJson, type JsonObject } from '../../core/base/json.ts'
import type { FunctionDeclaration, Part } from '../../core/content/content.ts'
import { messageOf, ToolwrightError } from '../../core/error/error.ts'
import { compileSchema } from '../../core/schema/compile.ts'
import type { ParseResult } from '../../core/schema/issues.ts'
import type { ConfigTool } from '../model/llm-request-config.ts'
import { type BackgroundOptions, backgroundOf } from '../policy/background.ts'
import { CHECKS_RESULT } from '../policy/redact.ts'
import { findBuiltTool } from '../tool/built-tools.ts'
import { checkTool } from '../tool/check-tool.ts'
import { addPendingNote } from '../tool/long-running-note.ts'
import { isSameServerTool } from '../tool/server-tool.ts'
import { nameProblem, type Tool } from '../tool/tool.ts'
import { kindOfTool, type ToolKind } from '../tool/tool-marks.ts'

/** A tool with everything that can be prepared before a call. */
export interface ToolEntry {
  /** The tool. */
  readonly tool: Tool
  /** How calls run: as a body, as an agent, or as code. */
  readonly kind: ToolKind
  /** The tool has no declaration: the model does not see it and cannot call it. */
  readonly isPassive: boolean
  /** The declaration for the model; undefined for a passive tool. */
  readonly declaration: FunctionDeclaration | undefined
  /** `tool()` created the declaration, which never changes. */
  readonly isFixed: boolean
  /** What `declaration()` of a hand-written tool returned when the entry was created. */
  readonly declared: FunctionDeclaration | undefined
  /** Set if `background()` marks the tool. */
  readonly background: BackgroundOptions | undefined
  /** The gate when the entry was created. Callbacks get the tool object and must not be able to remove its gate. */
  readonly gate: Tool['requiresConfirmation']
  /** Validates arguments. */
  parse(args: unknown): ParseResult | Promise<ParseResult>
  /** Validates results; undefined without an `outputSchema`. */
  readonly parseResult: ((result: unknown) => ParseResult | Promise<ParseResult>) | undefined
}

/** The tools one reply may call. */
export interface ToolTable {
  /** Entries by tool name. */
  readonly entries: ReadonlyMap<string, ToolEntry>
  /** Tools by name. */
  readonly tools: ReadonlyMap<string, Tool>
  /** Is there a tool that the model can call? */
  readonly hasDeclarations: boolean
  /** The declarations for a model request; undefined until the first `declare()`. */
  readonly declaredTools: readonly ConfigTool[] | undefined
  /** Creates the declarations for a model request. */
  declare(): readonly ConfigTool[]
  /** The tools with `processLlmRequest`. */
  readonly processors: readonly Tool[]
  /** Is one of the tools long-running? */
  readonly hasLongRunning: boolean
  /** The hand-written tools, whose declarations may change. */
  readonly changeable: readonly ToolEntry[]
}

/** A tool and its source, for error messages. */
export interface SourcedTool {
  /** The tool. */
  readonly tool: Tool
  /** Where the tool comes from, such as `toolset "web"`. */
  readonly source: string
}

/** Creates a table. Throws when a name or schema is invalid, or when two tools have the same name. */
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

/** Creates a table with more tools. Tools that are invalid, or whose name is taken, are left out and reported. */
export function extendToolTable(
  table: ToolTable,
  sourced: readonly SourcedTool[],
  report: (problem: string) => void,
): ToolTable {
  const entries = new Map(table.entries)
  for (const { tool, source } of sourced) {
    try {
      if (entries.has(tool.name)) throw new Error('another tool has this name. Use prefixTools().')
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
  declaredTools: readonly ConfigTool[] | undefined

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

  declare(): readonly ConfigTool[] {
    const functionDeclarations: FunctionDeclaration[] = []
    for (const { declaration } of this.entries.values()) if (declaration) functionDeclarations.push(declaration)
    this.declaredTools = functionDeclarations.length ? [{ functionDeclarations }] : []
    return this.declaredTools
  }
}

class Entry implements ToolEntry {
  readonly tool: Tool
  readonly kind: ToolKind
  readonly background: BackgroundOptions | undefined
  readonly gate: Tool['requiresConfirmation']
  readonly isPassive: boolean
  readonly isFixed: boolean
  readonly declared: FunctionDeclaration | undefined
  readonly parse: ToolEntry['parse']
  readonly parseResult: ToolEntry['parseResult']
  #declaration: FunctionDeclaration | undefined
  #declare: (() => FunctionDeclaration | undefined) | undefined

  /** `built`: the tool as `tool()` created it; undefined for a hand-written tool. */
  constructor(tool: Tool, built: Tool | undefined) {
    const isLate = built === tool || (built?.name === tool.name && tool.parse !== undefined)
    const declared = isLate ? undefined : declarationOf(tool)
    this.tool = tool
    this.kind = kindOfTool(tool)
    this.background = backgroundOf(tool)
    this.isPassive = !isLate && declared === undefined
    this.isFixed = isLate
    this.declared = declared
    this.#declaration = withPendingNote(tool, declared)
    this.#declare = isLate ? tool.declaration : undefined
    // only a value is kept: a getter is evaluated for each call
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

/** Adds the note that the result comes later to the declaration of a long-running tool. */
function withPendingNote(tool: Tool, declaration: FunctionDeclaration | undefined): FunctionDeclaration | undefined {
  return declaration && tool.isLongRunning ? addPendingNote(declaration) : declaration
}

function declarationOf(tool: Tool): FunctionDeclaration | undefined {
  const declaration = tool.declaration()
  if (declaration && declaration.name !== tool.name) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `Tool "${tool.name}" declares the name "${declaration.name}". Return the name of the tool from declaration().`,
    )
  }
  return declaration
}

const known: WeakMap<Tool, ToolEntry> = new WeakMap()

/** The entry of a tool. Created again when the declaration has changed. */
export function entryOf(tool: Tool): ToolEntry {
  let entry = known.get(tool)
  if (entry && isCurrent(entry)) return entry
  const built = findBuiltTool(tool)
  if (built !== tool) {
    const problem = nameProblem(tool.name)
    if (problem) throw new ToolwrightError('INVALID_CONFIG', `Tool "${String(tool.name)}" cannot be used: ${problem}.`)
    checkTool(tool)
  }
  entry = new Entry(tool, built)
  known.set(tool, entry)
  return entry
}

/** Is the declaration the same as when the entry was created? */
function isCurrent({ tool, declared, isFixed }: ToolEntry): boolean {
  if (isFixed) return true
  const now = tool.declaration()
  if (now === declared) return true
  return now !== undefined && declared !== undefined && canonicalJson(now) === canonicalJson(declared)
}

/** Creates a table with the current declarations. Returns the same table when none has changed. */
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
      logger.warn(`Tool "${name}" keeps its earlier declaration, because the new one is invalid: ${messageOf(error)}`)
    }
  }
  return entries ? new Table(entries) : table
}

/** The gate of the tool. Never weaker than when the entry was created. */
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

/** The entry that runs a call: a tool of the table, or the code executor. */
export function entryFor(
  batch: { readonly table: ToolTable; readonly code: ToolEntry | undefined },
  call: { readonly isCode: boolean; readonly name: string },
): ToolEntry | undefined {
  return call.isCode ? batch.code : batch.table.entries.get(call.name)
}

/** The ids of calls of long-running tools among these parts; undefined when there are none. */
export function longRunningIds(table: ToolTable, parts: readonly Part[]): string[] | undefined {
  if (!table.hasLongRunning) return undefined
  const ids = parts.flatMap(({ functionCall: call }) =>
    call?.id !== undefined && table.tools.get(call.name)?.isLongRunning ? [call.id] : [],
  )
  return ids.length ? ids : undefined
}

/** The error message for a model that called an unknown tool. */
export function unknownTool(table: ToolTable, name: string): string {
  const names = [...table.entries.values()].flatMap(({ tool, isPassive }) => (isPassive ? [] : [tool.name]))
  const close = closestNames(name, names)
  if (names.length === 0) return `Unknown tool "${clip(name)}". This agent has no tools.`
  return `Unknown tool "${clip(name)}". ${close.length ? `Did you mean ${list(close)}?` : `Available tools: ${list(names.slice(0, 20))}${names.length > 20 ? ' and others' : ''}.`}`
}

const clip = (name: string): string => (name.length > 64 ? `${name.slice(0, 64)}...` : name)
const list = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ')
