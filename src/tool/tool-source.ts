import { checkOptions, name, type OptionRules } from '../error/check-options.ts'
import { ToolwrightError } from '../error/error.ts'
import type { ReadonlyContext } from './context.ts'
import type { Tool } from './tool.ts'
import type { Toolset } from './toolset.ts'

/** What an agent's `tools` takes: tools, toolsets, dynamic sources made by `toolSource()`, and lists of these. */
export type ToolSource = Tool | Toolset | DynamicToolSource | readonly ToolSource[]

const LIST: unique symbol = Symbol.for('toolwright.toolSource')

type ListSources = (context: ReadonlyContext) => ToolSource | Promise<ToolSource>

/** Made by `toolSource()`: tools that depend on the context of the run. */
export interface DynamicToolSource {
  /** What warnings call it. */
  readonly name: string
  readonly [LIST]: ListSources
}

const RULES: OptionRules<{ name?: string | undefined }> = { name }

/**
 * Tools that depend on the context: `list` is called before each model call, and the agent has what it returns. It only
 * picks tools: it has no side effects. The name is for warnings.
 *
 * @example
 * tools: [toolSource(({ state }) => (state.get('user:admin') === true ? [deleteUser] : []), { name: 'admin tools' })]
 */
export function toolSource(list: ListSources, options: { readonly name?: string | undefined } = {}): DynamicToolSource {
  if (typeof list !== 'function')
    throw new ToolwrightError('INVALID_CONFIG', 'toolSource() takes a function of the context that returns tools.')
  checkOptions('toolSource()', options, RULES)
  return { name: options.name ?? (list.name || 'unnamed'), [LIST]: list }
}

/** Was it made by `toolSource()`? */
export function isDynamicSource(value: unknown): value is DynamicToolSource {
  return typeof value === 'object' && value !== null && LIST in value
}

/** What the function behind a dynamic source returns for this context. */
export function listSources(source: DynamicToolSource, context: ReadonlyContext): ReturnType<ListSources> {
  return source[LIST](context)
}
