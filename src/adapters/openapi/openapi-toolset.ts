import { isRecord } from '../../core/base/json.ts'
import { kindOf } from '../../core/base/kind-of.ts'
import { anything } from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { ReadonlyContext } from '../../engine/context/context.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import type { Toolset } from '../../engine/tool/toolset.ts'
import { apiTools } from './api-tools.ts'
import { type ApiToolsetOptions, checkApiOptions } from './toolset-options.ts'

/** Options of `OpenApiToolset`. */
export interface OpenApiToolsetOptions extends ApiToolsetOptions {
  /** The OpenAPI document: an object, its text as JSON or YAML, the path of a local file, or a function that returns one of the first two. */
  readonly spec: string | object | (() => unknown)
}

/**
 * The operations of an API as tools. The document is read at the first listing.
 *
 * @example
 * const pets = new OpenApiToolset({ spec, baseUrl: 'https://pets.example.com/v1', confirmUnsafe: true })
 * const agent = new LlmAgent({ name: 'desk', model, tools: [pets] })
 */
export class OpenApiToolset implements Toolset {
  /** The name in warnings and errors. */
  readonly name: string
  /** Is the document read by a function, which may ask a server? */
  readonly isRemote: boolean
  readonly #listTools: Toolset['listTools']

  constructor(options: OpenApiToolsetOptions) {
    checkApiOptions('new OpenApiToolset()', options, { spec: anything })
    const { spec, ...shared } = options
    if (typeof spec !== 'function' && !isRecord(spec) && (typeof spec !== 'string' || spec.trim() === ''))
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `new OpenApiToolset(): spec must be an OpenAPI document (an object, its text or the path of a file) or a function, got ${kindOf(spec)}.`,
      )
    this.name = options.name ?? 'openapi'
    this.isRemote = typeof spec === 'function'
    // the cast is true: an object that can be called is the function of the options
    const readSpec = typeof spec === 'function' ? async () => asDocument(await (spec as () => unknown)()) : () => spec
    this.#listTools = apiTools(this.name, shared, readSpec)
  }

  /** Lists the tools: the same objects each time. Throws if the document cannot be read; the next listing tries again. */
  listTools(context: ReadonlyContext): Promise<readonly Tool[]> {
    return this.#listTools(context)
  }
}

/** A text that a function returns may come from a server. It is never a path: a text with a line break is a document. */
function asDocument(spec: unknown): unknown {
  return typeof spec === 'string' ? `${spec}\n` : spec
}
