import { ToolwrightError } from '../../error/error.ts'
import type { CodeFile } from '../../tool/code-executor.ts'
import { isPlainName } from './plain-file-name.ts'

/** The files a run is given, by name. */
export function inputFiles(files: readonly CodeFile[] = []): ReadonlyMap<string, Uint8Array> {
  const read = new Map<string, Uint8Array>()
  for (const { name, data } of files) {
    if (!isPlainName(name)) {
      throw new ToolwrightError('INVALID_REQUEST', `${JSON.stringify(name)} is no plain file name; code cannot get it.`)
    }
    read.set(name, Buffer.from(data, 'base64'))
  }
  return read
}
