import type { CodeFile } from '../../tool/code-executor.ts'
import type { Limits } from '../executor-options.ts'
import { mimeTypeOf } from './mime-type.ts'
import { isPlainName } from './plain-file-name.ts'

/**
 * The files a run leaves behind, as far as they may be taken: plain names, so many, so large together, and none that
 * is as it was given.
 */
export class OutputFiles {
  readonly #limits: Limits
  readonly #given: ReadonlyMap<string, Uint8Array>
  readonly #taken = new Map<string, CodeFile>()
  readonly #left: string[] = []
  #bytes = 0
  #leftCount = 0

  constructor(limits: Limits, given: ReadonlyMap<string, Uint8Array>) {
    this.#limits = limits
    this.#given = given
  }

  /** The most bytes the next file may have. */
  get room(): number {
    return this.#taken.size < this.#limits.maxFiles ? this.#limits.maxFileBytes - this.#bytes : -1
  }

  add(name: string, bytes: Uint8Array): void {
    const given = this.#given.get(name)
    if (given && Buffer.compare(given, bytes) === 0) return
    if (!isPlainName(name) || this.#taken.has(name) || bytes.length > this.room) {
      this.leave(name)
      return
    }
    this.#bytes += bytes.length
    this.#taken.set(name, { name, mimeType: mimeTypeOf(name, bytes), data: Buffer.from(bytes).toString('base64') })
  }

  /** A file that is not taken. */
  leave(name: string): void {
    this.#leftCount++
    if (this.#left.length < 10) this.#left.push(JSON.stringify(name.slice(0, 100)))
  }

  get list(): readonly CodeFile[] {
    return [...this.#taken.values()]
  }

  /** What the model is told about files that were not taken. */
  get note(): string | undefined {
    if (this.#leftCount === 0) return undefined
    const { maxFiles, maxFileBytes } = this.#limits
    const more = this.#leftCount > this.#left.length ? ` and ${this.#leftCount - this.#left.length} more` : ''
    return `not kept: ${this.#left.join(', ')}${more}; a run keeps ${maxFiles} files of plain names, ${maxFileBytes} bytes together`
  }
}
