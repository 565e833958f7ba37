import { isPlainFileName } from '../files/plain-file-name.ts'

/** A session can hold this many times what one run can write. */
const RUNS_PER_SESSION = 10

/** The files of one virtual machine, in memory: code in QuickJS has no access to a file system. */
export class VmFiles {
  readonly #maxFiles: number
  readonly #maxBytes: number
  readonly #all = new Map<string, Uint8Array>()
  /** Files the session wrote and the host has not replaced since. They count against the limit of the session. */
  readonly #writtenInSession = new Map<string, Uint8Array>()
  #writtenInRun = new Map<string, Uint8Array>()

  constructor(maxFiles: number, maxBytes: number) {
    this.#maxFiles = maxFiles
    this.#maxBytes = maxBytes
  }

  /** Begins a run with its input files. */
  startRun(inputFiles: readonly (readonly [string, Uint8Array])[]): void {
    this.#writtenInRun = new Map()
    for (const [name, bytes] of inputFiles) {
      this.#all.set(name, bytes)
      this.#writtenInSession.delete(name)
    }
  }

  /** The names of all files. */
  list(): string[] {
    return [...this.#all.keys()]
  }

  /** The content of a file. Throws when there is none of that name. */
  read(name: string): Uint8Array {
    const bytes = this.#all.get(name)
    if (!bytes)
      throw new Error(`File ${JSON.stringify(name)} does not exist. listFiles() returns the names of all files.`)
    return bytes
  }

  /** Writes a file. Throws when the name is not plain or a limit is exceeded. */
  write(name: string, bytes: Uint8Array): void {
    if (!isPlainFileName(name)) throw new Error(`${JSON.stringify(name)} is not a plain file name.`)
    const inRun = new Map(this.#writtenInRun).set(name, bytes)
    if (inRun.size > this.#maxFiles) throw new Error(`A run can write at most ${this.#maxFiles} files.`)
    if (sizeOf(inRun) > this.#maxBytes) throw new Error(`A run can write at most ${this.#maxBytes} bytes to files.`)
    const inSession = new Map(this.#writtenInSession).set(name, bytes)
    const [maxFiles, maxBytes] = [RUNS_PER_SESSION * this.#maxFiles, RUNS_PER_SESSION * this.#maxBytes]
    if (inSession.size > maxFiles || sizeOf(inSession) > maxBytes) {
      throw new Error(`A session can hold at most ${maxFiles} files and ${maxBytes} bytes.`)
    }
    this.#writtenInSession.set(name, bytes)
    this.#writtenInRun = inRun
    this.#all.set(name, bytes)
  }

  /** The files that the current run wrote. */
  get writtenInRun(): readonly (readonly [string, Uint8Array])[] {
    return [...this.#writtenInRun]
  }
}

function sizeOf(files: ReadonlyMap<string, Uint8Array>): number {
  let size = 0
  for (const { length } of files.values()) size += length
  return size
}
