// Tool names that OpenAI accepts: letters, digits, "_" and "-", at most 64 of them. Toolwright also allows "." and ":".

const MAX_LENGTH = 64

/** Maps tool names to names that OpenAI accepts, and back. A name keeps its mapping as long as the session lasts. */
export class ToolNames {
  readonly #toWire: Map<string, string> = new Map()
  readonly #fromWire: Map<string, string> = new Map()

  /** The name for OpenAI. */
  toWire(name: string): string {
    const known = this.#toWire.get(name)
    if (known !== undefined) return known
    const cleaned = name.replace(/[^A-Za-z0-9_-]/g, '_') || '_'
    let wireName = cleaned.slice(0, MAX_LENGTH)
    for (let count = 2; this.#fromWire.has(wireName); count++) {
      const suffix = `_${count}`
      wireName = cleaned.slice(0, MAX_LENGTH - suffix.length) + suffix
    }
    this.#toWire.set(name, wireName)
    this.#fromWire.set(wireName, name)
    return wireName
  }

  /** The name of the tool. Unknown names are returned unchanged. */
  fromWire(name: string): string {
    return this.#fromWire.get(name) ?? name
  }
}
