import { kindOf } from '../../core/base/kind-of.ts'
import type { AuthConfig } from '../../core/content/auth.ts'
import { checkOptions, name } from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { ReadonlyContext } from '../context/context.ts'
import { toolOfFunction } from './define-tool.ts'
import type { ToolFunction } from './functions/tool-function.ts'
import { isTool, type Tool } from './tool.ts'

/** A source of tools, such as a remote server. The list may depend on the context. The runner closes the toolset. */
export interface Toolset {
  /** The name in warnings and errors. */
  readonly name: string
  /** The credential that listing needs. The user is asked for it before `listTools` is called. */
  readonly authConfig?: AuthConfig | undefined
  /** Where the tools send their calls, for approvals of agent tools whose agent has this toolset. Like `sendsTo` of a tool. */
  readonly sendsTo?: Tool['sendsTo']
  /** Listing needs another process or the network. A replay lists the recorded tools instead. Default false. */
  readonly isRemote?: boolean | undefined
  /** Lists the tools. Called before each model call. `context.authCredential` is the credential for `authConfig`. */
  listTools(context: ReadonlyContext): Promise<readonly Tool[]>
  /**
   * Returns a value that stays the same while `listTools` would return the same tools for this context. Then the tools are not
   * listed again. Default: the tools are listed before each model call.
   */
  revision?(context: ReadonlyContext): unknown
  /** Closes connections. Called when the runner closes. Default: nothing to close. */
  shutdown?(): Promise<void>
  /** Closes the toolset at the end of an `await using` block. */
  [Symbol.asyncDispose]?(): PromiseLike<void>
}

/** Is the value a toolset? */
export function isToolset(value: unknown): value is Toolset {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Toolset>).listTools === 'function'
}

/** A fixed list of tools. */
export class StaticToolset implements Toolset {
  /** The name in warnings and errors. Default `static`. */
  readonly name: string
  readonly #tools: Tool[]
  constructor(tools: readonly (Tool | ToolFunction)[] = [], options: { name?: string | undefined } = {}) {
    checkOptions('StaticToolset', options, { name })
    this.name = options.name ?? 'static'
    this.#tools = tools.map(requireTool)
  }
  /** Adds tools. Returns the toolset. */
  push(...tools: readonly (Tool | ToolFunction)[]): this {
    this.#tools.push(...tools.map(requireTool))
    return this
  }
  /** Lists the tools, in the order in which they were added. */
  listTools(): Promise<readonly Tool[]> {
    return Promise.resolve([...this.#tools])
  }
}

function requireTool(given: Tool | ToolFunction): Tool {
  if (isTool(given)) return given
  if (typeof given === 'function') return toolOfFunction(given, 'The tools of a StaticToolset')
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `StaticToolset takes a list of tools, got ${kindOf(given)} in it. Create tools with tool().`,
  )
}
