import { kindOf } from '../base/kind-of.ts'
import { checkOptions, name } from '../error/check-options.ts'
import { ToolwrightError } from '../error/error.ts'
import { bareFunctionError } from './bare-function-error.ts'
import type { ReadonlyContext } from './context.ts'
import { isTool, type Tool } from './tool.ts'

/** A supplier of tools whose list may depend on who asks. Closed with the runner. */
export interface Toolset {
  readonly name: string
  listTools(context: ReadonlyContext): Promise<readonly Tool[]>
  shutdown?(): Promise<void>
  [Symbol.asyncDispose]?(): PromiseLike<void>
}

/** Is it a toolset: can it list tools? */
export function isToolset(value: unknown): value is Toolset {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Toolset>).listTools === 'function'
}

/** A fixed list of tools. */
export class StaticToolset implements Toolset {
  readonly name: string
  readonly #tools: Tool[]
  constructor(tools: readonly Tool[] = [], options: { name?: string | undefined } = {}) {
    checkOptions('StaticToolset', options, { name })
    this.name = options.name ?? 'static'
    this.#tools = tools.map(requireTool)
  }
  push(...tools: readonly Tool[]): this {
    this.#tools.push(...tools.map(requireTool))
    return this
  }
  listTools(): Promise<readonly Tool[]> {
    return Promise.resolve([...this.#tools])
  }
}

function requireTool(tool: Tool): Tool {
  if (isTool(tool)) return tool
  const given: unknown = tool
  if (typeof given === 'function') throw bareFunctionError(given, 'The tools of a StaticToolset')
  throw new ToolwrightError('INVALID_CONFIG', `StaticToolset takes tools, got ${kindOf(given)}.`)
}
