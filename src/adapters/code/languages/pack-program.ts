import type { TarFile } from '../files/tar.ts'
import type { Interpreter } from './languages.ts'

/** A program with its code, ready to be copied into a folder and started there. */
export interface PackedProgram {
  /** Program and arguments, with all paths filled in. */
  readonly command: readonly string[]
  /** Path of the file to connect to stdin: the code, unless the command names it. */
  readonly stdin: string | undefined
  /** Files to copy into the folder: the code first, then the tool client. */
  readonly files: readonly TarFile[]
}

/** The code to pack and where it will run. */
interface PackOptions {
  /** Source code written by the model. */
  readonly code: string
  /** Whether the code can call tools. */
  readonly usesTools: boolean
  /** The folder the files will be in. */
  readonly folder: string
  /** Memory limit to pass to an interpreter that accepts one. */
  readonly memoryBytes?: number | undefined
}

/** Puts the code into a file and fills in the command: `{file}` is the path of that file, `{folder}` its folder. */
export function packProgram(
  interpreter: Interpreter,
  { code, usesTools, folder, memoryBytes }: PackOptions,
): PackedProgram {
  const [name = '', ...args] = interpreter.command
  const toolClient = usesTools ? interpreter.toolClient : undefined
  const file = `${folder}/${interpreter.file}`
  const memoryLimit =
    memoryBytes !== undefined && interpreter.reservedMemory
      ? [interpreter.reservedMemory.limitArgument(memoryBytes)]
      : []
  const words = [name, ...memoryLimit, ...(toolClient?.args ?? []), ...args]
  const utf8 = new TextEncoder()
  return {
    command: words.map((word) => word.replaceAll('{file}', file).replaceAll('{folder}', folder)),
    stdin: args.some((word) => word.includes('{file}')) ? undefined : file,
    files: [
      { name: interpreter.file, bytes: utf8.encode(code) },
      ...(toolClient ? [{ name: toolClient.file, bytes: utf8.encode(toolClient.text) }] : []),
    ],
  }
}
