import { ToolwrightError } from '../../error/error.ts'
import { writeTar } from '../files/tar.ts'
import type { Packed } from '../languages/pack-program.ts'

/** The folder of the program, and the one it works in. */
export const RUN_FOLDER = '/tmp/run'
export const WORK_FOLDER = '/tmp/work'

/** Files that programs look for, with nothing of the machine in them; they are put beside the program. */
export const settings: Readonly<Record<string, string>> = {
  passwd: `sandbox:x:1000:1000::${WORK_FOLDER}:/bin/sh\n`,
  group: 'sandbox:x:1000:\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
  hosts: '127.0.0.1 localhost\n',
}

/** What is unpacked in a sandbox before the code starts, as an archive. */
export function packSandbox(
  program: Packed,
  given: ReadonlyMap<string, Uint8Array>,
  { diskBytes, diskFiles }: { readonly diskBytes: number; readonly diskFiles: number },
): Uint8Array {
  const files = [
    ...['run/', 'work/', 'shm/'].map((name) => ({ name, bytes: new Uint8Array(0) })),
    ...Object.entries(settings).map(([name, text]) => ({ name: `run/${name}`, bytes: new TextEncoder().encode(text) })),
    ...program.files.map(({ name, bytes }) => ({ name: `run/${name}`, bytes })),
    ...[...given].map(([name, bytes]) => ({ name: `work/${name}`, bytes })),
  ]
  const archive = writeTar(files)
  if (archive.length <= diskBytes && files.length < diskFiles) return archive
  const found = `${archive.length} bytes in ${files.length} files`
  throw new ToolwrightError('TOO_LARGE', `Code and files (${found}) do not fit: raise diskBytes or diskFiles.`)
}
