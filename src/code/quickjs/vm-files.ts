import { isPlainName } from '../files/plain-file-name.ts'

/** A session holds so many times what one run may write. */
const RUNS = 10

/** The files of one machine: in memory, by name, within limits. */
export class VmFiles {
  readonly #maxFiles: number
  readonly #maxBytes: number
  readonly #all = new Map<string, Uint8Array>()
  /** Written in this session and not given since. */
  readonly #kept = new Map<string, Uint8Array>()
  #written = new Map<string, Uint8Array>()

  constructor(maxFiles: number, maxBytes: number) {
    this.#maxFiles = maxFiles
    this.#maxBytes = maxBytes
  }

  /** Before each run: what it is given. */
  begin(given: readonly (readonly [string, Uint8Array])[]): void {
    this.#written = new Map()
    for (const [name, bytes] of given) {
      this.#all.set(name, bytes)
      this.#kept.delete(name)
    }
  }

  list(): string[] {
    return [...this.#all.keys()]
  }

  read(name: string): Uint8Array {
    const bytes = this.#all.get(name)
    if (!bytes) throw new Error(`There is no file ${JSON.stringify(name)}. listFiles() gives the names there are.`)
    return bytes
  }

  write(name: string, bytes: Uint8Array): void {
    if (!isPlainName(name)) throw new Error(`${JSON.stringify(name)} is no plain file name.`)
    const after = new Map(this.#written).set(name, bytes)
    if (after.size > this.#maxFiles) throw new Error(`A run can write ${this.#maxFiles} files.`)
    if (sizeOf(after) > this.#maxBytes) throw new Error(`A run can write ${this.#maxBytes} bytes to files.`)
    const kept = new Map(this.#kept).set(name, bytes)
    if (kept.size > RUNS * this.#maxFiles || sizeOf(kept) > RUNS * this.#maxBytes) {
      throw new Error(`A session can hold ${RUNS * this.#maxFiles} files and ${RUNS * this.#maxBytes} bytes.`)
    }
    this.#kept.set(name, bytes)
    this.#written = after
    this.#all.set(name, bytes)
  }

  /** What this run wrote. */
  get written(): readonly (readonly [string, Uint8Array])[] {
    return [...this.#written]
  }
}

function sizeOf(files: ReadonlyMap<string, Uint8Array>): number {
  let size = 0
  for (const { length } of files.values()) size += length
  return size
}
