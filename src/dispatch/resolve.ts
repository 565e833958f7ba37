// From the name a model said to the tool that answers to it.
import { closest } from '../base/closest.ts'
import type { JsonObject } from '../base/json.ts'
import type { FunctionDeclaration } from '../content/content.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import { CHECKS_RESULT } from '../policy/redact.ts'
import { compileSchema } from '../schema/compile.ts'
import type { Parsed } from '../schema/parsed.ts'
import { checkTool } from '../tool/check-tool.ts'
import { builtTool } from '../tool/late-declaration.ts'
import { isSameServerTool } from '../tool/server-tool.ts'
import { nameProblem, type Tool } from '../tool/tool.ts'
import type { WireTool } from '../tool/wire.ts'

/** A tool with everything that can be made ready before it is called. */
export interface ToolEntry {
  readonly tool: Tool
  /** Has no declaration: not advertised, never dispatched. */
  readonly isPassive: boolean
  /** Undefined = passive. */
  readonly declaration: FunctionDeclaration | undefined
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
  /** As they go into a request; the same array every time. */
  readonly wire: readonly WireTool[]
  /** Those that want to change the request. */
  readonly processors: readonly Tool[]
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
  #wire: readonly WireTool[] | undefined

  constructor(entries: ReadonlyMap<string, ToolEntry>) {
    const tools = new Map<string, Tool>()
    const processors: Tool[] = []
    let hasDeclarations = false
    for (const [name, { tool, isPassive }] of entries) {
      tools.set(name, tool)
      if (tool.processLlmRequest) processors.push(tool)
      if (!isPassive) hasDeclarations = true
    }
    this.entries = entries
    this.tools = tools
    this.processors = processors
    this.hasDeclarations = hasDeclarations
  }

  get wire(): readonly WireTool[] {
    if (!this.#wire) {
      const functionDeclarations: FunctionDeclaration[] = []
      for (const { declaration } of this.entries.values()) if (declaration) functionDeclarations.push(declaration)
      this.#wire = functionDeclarations.length ? [{ functionDeclarations }] : []
    }
    return this.#wire
  }
}

class Entry implements ToolEntry {
  readonly tool: Tool
  readonly gate: Tool['requiresConfirmation']
  readonly isPassive: boolean
  readonly parse: ToolEntry['parse']
  readonly parseResult: ToolEntry['parseResult']
  #declaration: FunctionDeclaration | undefined
  #declare: (() => FunctionDeclaration | undefined) | undefined

  /** `built` is the tool as `tool()` made it, if it did. */
  constructor(tool: Tool, built: Tool | undefined) {
    const isLate = built === tool || (built?.name === tool.name && tool.parse !== undefined)
    const declaration = isLate ? undefined : declarationOf(tool)
    this.tool = tool
    this.isPassive = !isLate && declaration === undefined
    this.#declaration = declaration
    this.#declare = isLate ? tool.declaration : undefined
    // a getter decides anew for each call
    this.gate = Object.getOwnPropertyDescriptor(tool, 'requiresConfirmation')?.value
    this.parse = built === tool && tool.parse ? tool.parse : parserOf(tool, declaration?.parametersJsonSchema)
    this.parseResult = resultParserOf(tool)
  }

  get declaration(): FunctionDeclaration | undefined {
    if (this.#declare) {
      this.#declaration = this.#declare()
      this.#declare = undefined
    }
    return this.#declaration
  }
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

/** One tool, made ready. */
export function entryOf(tool: Tool): ToolEntry {
  let entry = known.get(tool)
  if (entry) return entry
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

/** What to tell a model that called a tool that is not there. */
export function unknownTool(table: ToolTable, name: string): string {
  const names = [...table.entries.values()].flatMap(({ tool, isPassive }) => (isPassive ? [] : [tool.name]))
  const close = closest(name, names)
  if (names.length === 0) return `Unknown tool "${clip(name)}". There are no tools.`
  return `Unknown tool "${clip(name)}". ${close.length ? `Did you mean ${list(close)}?` : `There are ${list(names.slice(0, 20))}${names.length > 20 ? ' and others' : ''}.`}`
}

const clip = (name: string): string => (name.length > 64 ? `${name.slice(0, 64)}...` : name)
const list = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ')
