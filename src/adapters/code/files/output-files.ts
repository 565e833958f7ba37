import type { CodeFile } from '../../../engine/tool/code-executor.ts'
import type { ExecutorLimits } from '../executor-options.ts'
import { detectMimeType } from './mime-type.ts'
import { isPlainFileName } from './plain-file-name.ts'

/** How many skipped files the note for the model names. */
const MAX_SKIPPED_NAMES = 10

/**
 * Collects the files a run wrote. Saves a file only if its name is plain, it differs from the input file of that name,
 * and it fits into `maxFiles` and `maxFileBytes`.
 */
export class OutputFiles {
  readonly #limits: ExecutorLimits
  readonly #inputFiles: ReadonlyMap<string, Uint8Array>
  readonly #saved = new Map<string, CodeFile>()
  readonly #skippedNames: string[] = []
  #savedBytes = 0
  #skippedCount = 0

  constructor(limits: ExecutorLimits, inputFiles: ReadonlyMap<string, Uint8Array>) {
    this.#limits = limits
    this.#inputFiles = inputFiles
  }

  /** The largest size the next file may have; -1 when no more files are saved. */
  get remainingBytes(): number {
    return this.#saved.size < this.#limits.maxFiles ? this.#limits.maxFileBytes - this.#savedBytes : -1
  }

  /** Saves a file, or skips it when a limit or its name forbids it. Ignores an input file that did not change. */
  add(name: string, bytes: Uint8Array): void {
    const input = this.#inputFiles.get(name)
    if (input && Buffer.compare(input, bytes) === 0) return
    if (!isPlainFileName(name) || this.#saved.has(name) || bytes.length > this.remainingBytes) {
      this.skip(name)
      return
    }
    this.#savedBytes += bytes.length
    this.#saved.set(name, { name, mimeType: detectMimeType(name, bytes), data: Buffer.from(bytes).toString('base64') })
  }

  /** Records a file that is not saved, for the note to the model. */
  skip(name: string): void {
    this.#skippedCount++
    if (this.#skippedNames.length < MAX_SKIPPED_NAMES) this.#skippedNames.push(JSON.stringify(name.slice(0, 100)))
  }

  /** The saved files. */
  get saved(): readonly CodeFile[] {
    return [...this.#saved.values()]
  }

  /** Tells the model which files were skipped; `undefined` if none was. */
  get skippedNote(): string | undefined {
    if (this.#skippedCount === 0) return undefined
    const { maxFiles, maxFileBytes } = this.#limits
    const unnamed = this.#skippedCount - this.#skippedNames.length
    const more = unnamed > 0 ? ` and ${unnamed} more` : ''
    return `not saved: ${this.#skippedNames.join(', ')}${more}; a run saves at most ${maxFiles} files with plain names, ${maxFileBytes} bytes in total`
  }
}
