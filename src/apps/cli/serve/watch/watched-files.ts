import { type FSWatcher, type Stats, statSync, watch } from 'node:fs'
import { dirname, join, sep } from 'node:path'

/** Editors and version control write several files, or one file in several steps. */
const SETTLE_MS = 60

/**
 * Finds out that files have changed. It watches their folders, because editors replace files, and compares the files, because
 * folders report more than that. A file that is missing is watched, too.
 */
export class WatchedFiles {
  /** The state of each file when it was added, or when its last change was reported. */
  readonly #known = new Map<string, string>()
  readonly #folders = new Map<string, FSWatcher>()
  #onEvent: () => void = () => {}

  /** Adds a file by its absolute path. */
  add(file: string): void {
    if (this.#known.has(file)) return
    this.#known.set(file, stateOf(file))
    this.#watchFolders()
  }

  /** Waits for a change. Resolves with the files that have changed since the last call; with none when the signal aborts. */
  changed(signal: AbortSignal): Promise<readonly string[]> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined
      const end = (files: readonly string[]): void => {
        clearTimeout(timer)
        this.#onEvent = () => {}
        resolve(files)
      }
      this.#onEvent = () => {
        clearTimeout(timer)
        timer = setTimeout(() => {
          this.#watchFolders() // a folder may have been replaced
          const files = this.#takeChanged()
          if (files.length > 0) end(files)
        }, SETTLE_MS)
      }
      this.#onEvent()
      signal.addEventListener('abort', () => end([]), { once: true })
      if (signal.aborted) end([])
    })
  }

  /** Stops watching. */
  close(): void {
    for (const watcher of this.#folders.values()) watcher.close()
    this.#folders.clear()
  }

  #takeChanged(): string[] {
    return [...this.#known].flatMap(([file, before]) => {
      const now = stateOf(file)
      this.#known.set(file, now)
      return now === before ? [] : [file]
    })
  }

  /** Watches the folder of each file; the nearest one above it while that is missing. */
  #watchFolders(): void {
    const wanted = new Map([...this.#known.keys()].map((file) => folderOf(file)))
    for (const [id, watcher] of this.#folders) {
      if (wanted.has(id)) continue
      watcher.close()
      this.#folders.delete(id)
    }
    for (const [id, folder] of wanted) {
      if (!this.#folders.has(id)) this.#folders.set(id, this.#watchFolder(folder))
    }
  }

  #watchFolder(folder: string): FSWatcher {
    const watcher = watch(folder, (_, name) => {
      if (name === null || this.#concerns(join(folder, name))) this.#onEvent()
    })
    return watcher.on('error', () => this.#onEvent()) // the folder was removed
  }

  /** Is it one of the files, or a folder above one? */
  #concerns(path: string): boolean {
    return this.#known.has(path) || [...this.#known.keys()].some((file) => file.startsWith(path + sep))
  }
}

function stateOf(file: string): string {
  const found = read(file)
  return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : 'missing'
}

/** The folder to watch, and what identifies it: a folder that was removed and created again is another one. */
function folderOf(file: string): readonly [id: string, folder: string] {
  const folder = dirname(file)
  const found = read(folder)
  if (!found && folder !== file) return folderOf(folder)
  return [`${found?.ino} ${folder}`, folder]
}

function read(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}
