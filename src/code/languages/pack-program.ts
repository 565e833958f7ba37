import type { TarFile } from '../files/tar.ts'
import type { Program } from './languages.ts'

/** A program with its code, ready to be put into a folder and started there. */
export interface Packed {
  readonly command: readonly string[]
  /** The file it gets on stdin; the code itself, unless that is in its command. */
  readonly stdin: string | undefined
  /** What has to be in the folder. */
  readonly files: readonly TarFile[]
}

export interface PackOptions {
  readonly code: string
  readonly usesTools: boolean
  /** Where the files will be. */
  readonly folder: string
  /** What it is told to keep its memory to, where it can be told. */
  readonly memoryBytes?: number | undefined
}

/** The code goes into a file of the folder; `{file}` in the command is where it is, `{folder}` is the folder. */
export function packProgram(program: Program, { code, usesTools, folder, memoryBytes }: PackOptions): Packed {
  const [name = '', ...args] = program.command
  const tools = usesTools ? program.tools : undefined
  const file = `${folder}/${program.file}`
  const limit = memoryBytes !== undefined && program.reserves ? [program.reserves.limit(memoryBytes)] : []
  const words = [name, ...limit, ...(tools?.args ?? []), ...args]
  const utf8 = new TextEncoder()
  return {
    command: words.map((word) => word.replaceAll('{file}', file).replaceAll('{folder}', folder)),
    stdin: args.some((word) => word.includes('{file}')) ? undefined : file,
    files: [
      { name: program.file, bytes: utf8.encode(code) },
      ...(tools ? [{ name: tools.file, bytes: utf8.encode(tools.text) }] : []),
    ],
  }
}
