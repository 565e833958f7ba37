import { anything, name } from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { Toolset } from '../../engine/tool/toolset.ts'
import { OpenApiToolset, type OpenApiToolsetOptions } from './openapi-toolset.ts'
import { type ApiToolsetOptions, checkApiOptions } from './toolset-options.ts'

/** Options of `registerOpenApiSpec()`: those of `OpenApiToolset`, with the document or the path of its file. */
export interface OpenApiSpecOptions extends ApiToolsetOptions {
  /** The path of the document. It is read at the first listing. */
  readonly specPath?: string | undefined
  /** The document, instead of a path. */
  readonly spec?: OpenApiToolsetOptions['spec'] | undefined
}

/**
 * Collects APIs, and gives their operations to agents.
 *
 * @example
 * const registry = new ApiRegistry()
 * registry.registerOpenApiSpec({ specPath: './petstore.yaml', baseUrl: 'https://petstore.example' })
 * const agent = new LlmAgent({ name: 'desk', model, tools: registry.getTools() })
 */
export class ApiRegistry {
  readonly #toolsets: OpenApiToolset[] = []

  /** Adds an API. Returns the registry. */
  registerOpenApiSpec(options: OpenApiSpecOptions): this {
    checkApiOptions('registerOpenApiSpec()', options, { spec: anything, specPath: name })
    const { specPath, spec, ...shared } = options
    if ((specPath === undefined) === (spec === undefined))
      throw new ToolwrightError('INVALID_CONFIG', 'registerOpenApiSpec() needs exactly one of specPath and spec.')
    // one of them is set
    const given = (specPath ?? spec) as OpenApiToolsetOptions['spec']
    this.#toolsets.push(new OpenApiToolset({ name: `openapi-${this.#toolsets.length + 1}`, ...shared, spec: given }))
    return this
  }

  /** The operations of all APIs, for the option `tools` of an agent: one toolset for each API, in the order of registration. */
  getTools(): Toolset[] {
    return [...this.#toolsets]
  }
}
