import { isPlainFileName } from '../files/plain-file-name.ts'

/** The file limits of a session are this many times those of one run. */
const RUNS_PER_SESSION = 10

/** The files of one virtual machine, in memory: code in QuickJS has no access to a file system. */
export class VmFiles {
  readonly #maxFiles: number
  readonly #maxBytes: number
  readonly #all = new Map<string, Uint8Array>()
  /**
   * Files that runs of this session wrote, without those that the host has replaced with input files. They count
   * against the limit of the session.
   */
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

  /** Returns the content of a file. Throws when no file has this name. */
  read(name: string): Uint8Array {
    const bytes = this.#all.get(name)
    if (!bytes)
      throw new Error(`File ${JSON.stringify(name)} does not exist. listFiles() returns the names of all files.`)
    return bytes
  }

  /** Writes a file. Throws when the name is not plain or a limit is exceeded. */
  write(name: string, bytes: Uint8Array): void {
    if (!isPlainFileName(name))
      throw new Error(
        `${JSON.stringify(name)} is not a plain file name. Use a name without folders, such as "result.csv".`,
      )
    const inRun = new Map(this.#writtenInRun).set(name, bytes)
    if (inRun.size > this.#maxFiles)
      throw new Error(`A run can write at most ${this.#maxFiles} files. Put the data into fewer files.`)
    if (sizeOf(inRun) > this.#maxBytes)
      throw new Error(`A run can write at most ${this.#maxBytes} bytes to files. Write less data.`)
    const inSession = new Map(this.#writtenInSession).set(name, bytes)
    const [maxFiles, maxBytes] = [RUNS_PER_SESSION * this.#maxFiles, RUNS_PER_SESSION * this.#maxBytes]
    if (inSession.size > maxFiles || sizeOf(inSession) > maxBytes) {
      throw new Error(
        `A session can hold at most ${maxFiles} files and ${maxBytes} bytes. Write to a file that exists instead of a new one, and write less data.`,
      )
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
