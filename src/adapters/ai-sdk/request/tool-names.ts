// Tool names that every provider accepts. Toolwright allows ".", ":" and 128 characters; most providers do not.
import type { LlmRequest } from '../../../engine/model/llm-request.ts'
import { readProviderTool } from '../tools/provider-tool.ts'

const SAFE = /^[A-Za-z_][A-Za-z0-9_-]*$/
const MAX_LENGTH = 64

/** Maps the tool names of one request to provider names and back. Names every provider accepts are not changed. */
export class ToolNames {
  readonly #providerNames: Map<string, string> = new Map()
  readonly #toolNames: Map<string, string> = new Map()

  /** Declared tools come first, so that a name in the history cannot change the name of a declared tool. */
  constructor({ contents, config }: Pick<LlmRequest, 'contents' | 'config'>) {
    const declared = new Set<string>()
    for (const entry of config.tools ?? []) {
      for (const { name } of entry.functionDeclarations ?? []) declared.add(name)
      const providerTool = readProviderTool(entry)
      if (providerTool) declared.add(providerTool.name)
    }
    const names = new Set(declared)
    for (const { parts } of contents)
      for (const { functionCall, functionResponse } of parts) {
        if (functionCall) names.add(functionCall.name)
        if (functionResponse) names.add(functionResponse.name)
      }
    for (const name of names) if (!isSafe(name)) this.#add(name, names)
  }

  /** The provider name of a tool. */
  toProviderName(name: string): string {
    return this.#providerNames.get(name) ?? name
  }

  /** The tool name for a provider name. Unknown names are returned unchanged. */
  toToolName(name: string): string {
    return this.#toolNames.get(name) ?? name
  }

  #add(name: string, taken: ReadonlySet<string>): void {
    const cleaned = name.replace(/[^A-Za-z0-9_-]/g, '_')
    const base = SAFE.test(cleaned) ? cleaned : `_${cleaned}`
    let providerName = base.slice(0, MAX_LENGTH)
    for (let count = 2; this.#toolNames.has(providerName) || taken.has(providerName); count++) {
      const suffix = `_${count}`
      providerName = base.slice(0, MAX_LENGTH - suffix.length) + suffix
    }
    this.#providerNames.set(name, providerName)
    this.#toolNames.set(providerName, name)
  }
}

function isSafe(name: string): boolean {
  return name.length <= MAX_LENGTH && SAFE.test(name)
}
