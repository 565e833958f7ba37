// A folder on the host, for code that runs without isolation.
import { constants } from 'node:fs'
import { type FileHandle, mkdir, mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OutputFiles } from './output-files.ts'

/** The program is in `run`, works in `work`, and may write to `temp` what nobody will look at. */
type Part = 'run' | 'work' | 'temp'

export class TempFolder {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  static async make(): Promise<TempFolder> {
    const folder = new TempFolder(await mkdtemp(join(tmpdir(), 'toolwright-code-')))
    for (const part of ['run', 'work', 'temp'] as const) await mkdir(folder.path(part))
    return folder
  }

  path(part: Part): string {
    return join(this.#root, part)
  }

  async put(part: Part, name: string, bytes: Uint8Array): Promise<void> {
    await writeFile(join(this.path(part), name), bytes)
  }

  /** Takes regular files only: a link is not followed, a pipe or device never opened, a file with a second name not read. */
  async collect(files: OutputFiles): Promise<void> {
    for (const entry of await readdir(this.path('work'), { withFileTypes: true })) {
      if (!entry.isFile()) continue
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
      const file = await open(join(this.path('work'), entry.name), flags)
      try {
        await take(file, entry.name, files)
      } finally {
        await file.close()
      }
    }
  }

  remove(): Promise<void> {
    return rm(this.#root, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function take(file: FileHandle, name: string, files: OutputFiles): Promise<void> {
  const stats = await file.stat()
  if (!stats.isFile() || stats.nlink > 1 || stats.size > files.room) {
    files.leave(name)
    return
  }
  const bytes = Buffer.alloc(stats.size)
  const { bytesRead } = await file.read(bytes, 0, stats.size, 0)
  files.add(name, bytes.subarray(0, bytesRead))
}
