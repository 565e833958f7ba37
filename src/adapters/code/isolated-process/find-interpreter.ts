import { isRecord } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Interpreter } from '../languages/languages.ts'
import { holdsPersonalFiles, hostEnvironment, installFolderOf, isWithin, realPath } from '../process/machine.ts'
import { requireProgram } from '../process/require-program.ts'
import { runProgram } from '../process/run-program.ts'
import { isSystemPath } from './sandbox-view.ts'

/** An interpreter that was found on this machine. */
export interface InstalledInterpreter extends Interpreter {
  /** The paths it needs in addition to the system folders and the paths already shown. */
  readonly paths: readonly string[]
}

/**
 * Finds the program of an interpreter and the folders it was installed with. Throws when such a folder contains the home
 * folder or the project: a sandbox shows those only if the developer lists a path in `readOnlyPaths`.
 */
export async function findInterpreter(
  interpreter: Interpreter,
  shownPaths: readonly string[],
): Promise<InstalledInterpreter> {
  const [name = '', ...args] = interpreter.command
  const program = requireProgram(name)
  const { path, folders } = interpreter.isPython
    ? await locatePython(program)
    : { path: realPath(program) ?? program, folders: [] }
  const needed = [installFolderOf(realPath(path) ?? path), ...folders]
  const paths = needed.filter((folder) => !shownPaths.some((shown) => isWithin(folder, shown)) && !isSystemPath(folder))
  const personal = paths.find(holdsPersonalFiles)
  if (personal !== undefined) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `Interpreter "${name}" is installed in ${personal}, which contains your home or project folder. A sandbox does not show it. List the folders the interpreter needs in readOnlyPaths.`,
    )
  }
  return { ...interpreter, command: [path, ...args], paths: [...new Set(paths)] }
}

/** Asks Python for its real path and folders: the program that was found may be a script that chooses a version. */
async function locatePython(program: string): Promise<{ path: string; folders: string[] }> {
  const { code, out, err } = await runProgram([program, '-c', DESCRIBE_PYTHON], hostEnvironment())
  const description = code === 0 ? parseJson(out) : undefined
  if (!isRecord(description) || typeof description.executable !== 'string') {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `Program "${program}" is not a working Python interpreter: ${err.slice(-500)}`,
    )
  }
  const { executable, prefix, base } = description
  return { path: executable, folders: [prefix, base].filter((folder) => typeof folder === 'string') }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const DESCRIBE_PYTHON =
  'import json, sys; print(json.dumps({"executable": sys.executable, "prefix": sys.prefix, "base": sys.base_prefix}))'
