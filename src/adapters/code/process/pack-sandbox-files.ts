import { ToolwrightError } from '../../../core/error/error.ts'
import { writeTar } from '../files/tar.ts'
import type { PackedProgram } from '../languages/pack-program.ts'

/** The folder in the sandbox that holds the code. */
export const RUN_FOLDER = '/tmp/run'
/** The working directory of the code in the sandbox. */
export const WORK_FOLDER = '/tmp/work'

/** Files of /etc that programs look for. They replace the host's own, which would reveal its users and network. */
export const etcFiles: Readonly<Record<string, string>> = {
  passwd: `sandbox:x:1000:1000::${WORK_FOLDER}:/bin/sh\n`,
  group: 'sandbox:x:1000:\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
  hosts: '127.0.0.1 localhost\n',
}

/** Packs everything the sandbox unpacks before the code starts. Throws when the archive exceeds the disk limits. */
export function packSandboxFiles(
  program: PackedProgram,
  inputFiles: ReadonlyMap<string, Uint8Array>,
  { diskBytes, diskFiles }: { readonly diskBytes: number; readonly diskFiles: number },
): Uint8Array {
  const files = [
    ...['run/', 'work/', 'shm/'].map((name) => ({ name, bytes: new Uint8Array(0) })),
    ...Object.entries(etcFiles).map(([name, text]) => ({ name: `run/${name}`, bytes: new TextEncoder().encode(text) })),
    ...program.files.map(({ name, bytes }) => ({ name: `run/${name}`, bytes })),
    ...[...inputFiles].map(([name, bytes]) => ({ name: `work/${name}`, bytes })),
  ]
  const archive = writeTar(files)
  if (archive.length <= diskBytes && files.length < diskFiles) return archive
  throw new ToolwrightError(
    'TOO_LARGE',
    `The code and its input files need ${archive.length} bytes in ${files.length} files, but the sandbox holds ${diskBytes} bytes in ${diskFiles} files. Raise diskBytes or diskFiles.`,
  )
}
