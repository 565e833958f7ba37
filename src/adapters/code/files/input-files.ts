import { ToolwrightError } from '../../../core/error/error.ts'
import type { CodeFile } from '../../../engine/tool/code-executor.ts'
import { isPlainFileName } from './plain-file-name.ts'

/** Decodes the files of a code request, by name. Throws when a name is not a plain file name. */
export function decodeInputFiles(files: readonly CodeFile[] = []): ReadonlyMap<string, Uint8Array> {
  const decoded = new Map<string, Uint8Array>()
  for (const { name, data } of files) {
    if (!isPlainFileName(name)) {
      throw new ToolwrightError(
        'INVALID_REQUEST',
        `Input file ${JSON.stringify(name)} is not a plain file name. Use 1 to 200 characters without slashes, backslashes or control characters.`,
      )
    }
    decoded.set(name, Buffer.from(data, 'base64'))
  }
  return decoded
}
