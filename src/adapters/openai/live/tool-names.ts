// Tool names that OpenAI accepts: letters, digits, "_" and "-", at most 64 of them. Toolwright also allows "." and ":".

const MAX_LENGTH = 64

/** Maps tool names to names that OpenAI accepts, and back. A name keeps its mapping as long as the session lasts. */
export class ToolNames {
  readonly #toProvider: Map<string, string> = new Map()
  readonly #fromProvider: Map<string, string> = new Map()

  /** The name for OpenAI. */
  toProvider(name: string): string {
    const known = this.#toProvider.get(name)
    if (known !== undefined) return known
    const cleaned = name.replace(/[^A-Za-z0-9_-]/g, '_') || '_'
    let providerName = cleaned.slice(0, MAX_LENGTH)
    for (let count = 2; this.#fromProvider.has(providerName); count++) {
      const suffix = `_${count}`
      providerName = cleaned.slice(0, MAX_LENGTH - suffix.length) + suffix
    }
    this.#toProvider.set(name, providerName)
    this.#fromProvider.set(providerName, name)
    return providerName
  }

  /** The name of the tool. Unknown names are returned unchanged. */
  fromProvider(name: string): string {
    return this.#fromProvider.get(name) ?? name
  }
}
