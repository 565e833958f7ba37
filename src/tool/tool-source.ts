import { callback, checkOptions, name, type OptionRules } from '../error/check-options.ts'
import { ToolwrightError } from '../error/error.ts'
import type { ReadonlyContext } from './context.ts'
import type { Tool } from './tool.ts'
import type { Toolset } from './toolset.ts'

/** What an agent's `tools` takes: tools, toolsets, dynamic sources made by `toolSource()`, and lists of these. */
export type ToolSource = Tool | Toolset | DynamicToolSource | readonly ToolSource[]

const LIST: unique symbol = Symbol.for('toolwright.toolSource')
const KEY: unique symbol = Symbol.for('toolwright.toolSourceKey')

type ListSources = (context: ReadonlyContext) => ToolSource | Promise<ToolSource>

/** Made by `toolSource()`: tools that depend on the context of the run. */
export interface DynamicToolSource {
  /** What warnings call it. */
  readonly name: string
  readonly [LIST]: ListSources
  readonly [KEY]?: ToolSourceOptions['key']
}

export interface ToolSourceOptions {
  /** For warnings. */
  readonly name?: string | undefined
  /**
   * With a key, a runner calls `list` once for each key and keeps what it returned: for toolsets that hold a connection.
   * Runs with the same key share them, so a toolset that acts for one user needs the user's id in its key.
   */
  readonly key?: ((context: ReadonlyContext) => string) | undefined
}

const RULES: OptionRules<ToolSourceOptions> = { name, key: callback }

/**
 * Tools that depend on the context: `list` is called before each model call, and the agent has what it returns. It only
 * picks tools: it has no side effects. Toolsets it returns are closed with the runner; give a `key` when it makes them.
 *
 * @example
 * tools: [toolSource(({ state }) => (state.get('user:admin') === true ? [deleteUser] : []), { name: 'admin tools' })]
 */
export function toolSource(list: ListSources, options: ToolSourceOptions = {}): DynamicToolSource {
  if (typeof list !== 'function')
    throw new ToolwrightError('INVALID_CONFIG', 'toolSource() takes a function of the context that returns tools.')
  checkOptions('toolSource()', options, RULES)
  const { key } = options
  return { name: options.name ?? (list.name || 'unnamed'), [LIST]: list, ...(key && { [KEY]: key }) }
}

/** Was it made by `toolSource()`? */
export function isDynamicSource(value: unknown): value is DynamicToolSource {
  return typeof value === 'object' && value !== null && LIST in value
}

/** What the function behind a dynamic source returns for this context. */
export function listSources(source: DynamicToolSource, context: ReadonlyContext): ReturnType<ListSources> {
  return source[LIST](context)
}

/** Under what key a runner keeps what the source returns for this context; undefined when it keeps nothing. */
export function keyOfSource(source: DynamicToolSource, context: ReadonlyContext): unknown {
  return source[KEY]?.(context)
}
