import type { ReadonlyContext } from './context.ts'
import type { Tool } from './tool.ts'

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
    this.name = options.name ?? 'static'
    this.#tools = [...tools]
  }
  push(...tools: readonly Tool[]): this {
    this.#tools.push(...tools)
    return this
  }
  listTools(): Promise<readonly Tool[]> {
    return Promise.resolve([...this.#tools])
  }
}
