import { kindOf } from '../../core/base/kind-of.ts'
import { callback, checkOptions, name, type OptionRules } from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { ReadonlyContext } from '../context/context.ts'
import type { ToolFunction } from './functions/tool-function.ts'
import type { Tool } from './tool.ts'
import type { Toolset } from './toolset.ts'

/**
 * An item of an agent's `tools`: a tool, a toolset, a dynamic source made by `toolSource()`, a plain function whose types
 * `toolwright/infer` has read, or a list of these.
 */
export type ToolSource = Tool | Toolset | DynamicToolSource | ToolFunction | readonly ToolSource[]

const LIST: unique symbol = Symbol.for('toolwright.toolSource')
const KEY: unique symbol = Symbol.for('toolwright.toolSourceKey')

type ListSources = (context: ReadonlyContext) => ToolSource | Promise<ToolSource>

/** Tools that depend on the context. Made by `toolSource()`. */
export interface DynamicToolSource {
  /** Its name in warnings. */
  readonly name: string
  /** Returns the tools for a context. */
  readonly [LIST]: ListSources
  /** The `key` option. */
  readonly [KEY]?: ToolSourceOptions['key']
}

/** Options of `toolSource()`. */
export interface ToolSourceOptions {
  /** The name in warnings. Default: the name of the function, or `unnamed`. */
  readonly name?: string | undefined
  /**
   * With a key, a runner calls `list` once for each key and keeps the result. Use it for toolsets that hold a connection. Runs
   * with the same key share the toolsets, so the key of a toolset that acts for one user must contain the user id.
   * Default: `list` is called before each model call.
   */
  readonly key?: ((context: ReadonlyContext) => string) | undefined
}

const RULES: OptionRules<ToolSourceOptions> = { name, key: callback }

/**
 * Creates a source of tools that depend on the context. `list` is called before each model call and returns the agent's tools.
 * It must have no side effects. The runner closes the toolsets it returns. Set `key` if `list` creates toolsets.
 *
 * @example
 * tools: [toolSource(({ state }) => (state.get('user:admin') === true ? [deleteUser] : []), { name: 'admin tools' })]
 */
export function toolSource(list: ListSources, options: ToolSourceOptions = {}): DynamicToolSource {
  if (typeof list !== 'function')
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `toolSource() takes a function of the context that returns tools, got ${kindOf(list)}.`,
    )
  checkOptions('toolSource()', options, RULES)
  const { key } = options
  return { name: options.name ?? (list.name || 'unnamed'), [LIST]: list, ...(key && { [KEY]: key }) }
}

/** Was the value made by `toolSource()`? */
export function isDynamicSource(value: unknown): value is DynamicToolSource {
  return typeof value === 'object' && value !== null && LIST in value
}

/** Calls the function of a dynamic source. */
export function listSources(source: DynamicToolSource, context: ReadonlyContext): ReturnType<ListSources> {
  return source[LIST](context)
}

/** The key under which a runner keeps the result for this context. Undefined if the source has no `key`. */
export function keyOfSource(source: DynamicToolSource, context: ReadonlyContext): unknown {
  return source[KEY]?.(context)
}

/** Has the source a `key`? */
export function hasKey(source: DynamicToolSource): boolean {
  return source[KEY] !== undefined
}
