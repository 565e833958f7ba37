// Tool names as every provider takes them. Ours may have "." and ":" and 128 characters; most providers take neither.
import type { LlmRequest } from '../../tool/tool.ts'
import { providerToolIn } from '../tools/provider-tool.ts'

const SAFE = /^[A-Za-z_][A-Za-z0-9_-]*$/
const MAX_LENGTH = 64

/** The tool names of one request, both ways. Names that need no change are not in it. */
export class ToolNames {
  readonly #sent: Map<string, string> = new Map()
  readonly #ours: Map<string, string> = new Map()

  /** Declared tools come first, so that a name in the history cannot change theirs. */
  constructor({ contents, config }: Pick<LlmRequest, 'contents' | 'config'>) {
    const declared = new Set<string>()
    for (const entry of config.tools ?? []) {
      for (const { name } of entry.functionDeclarations ?? []) declared.add(name)
      const providerTool = providerToolIn(entry)
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

  /** The name the provider sees. */
  toSent(name: string): string {
    return this.#sent.get(name) ?? name
  }

  /** The name of the tool. A name that was never sent stays as it is. */
  toOurs(name: string): string {
    return this.#ours.get(name) ?? name
  }

  #add(name: string, taken: ReadonlySet<string>): void {
    const cleaned = name.replace(/[^A-Za-z0-9_-]/g, '_')
    const base = SAFE.test(cleaned) ? cleaned : `_${cleaned}`
    let sent = base.slice(0, MAX_LENGTH)
    for (let count = 2; this.#ours.has(sent) || taken.has(sent); count++) {
      const suffix = `_${count}`
      sent = base.slice(0, MAX_LENGTH - suffix.length) + suffix
    }
    this.#sent.set(name, sent)
    this.#ours.set(sent, name)
  }
}

function isSafe(name: string): boolean {
  return name.length <= MAX_LENGTH && SAFE.test(name)
}
