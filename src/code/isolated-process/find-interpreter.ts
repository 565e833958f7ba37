import { isRecord } from '../../base/json.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { Program } from '../languages/languages.ts'
import { ask } from '../process/child-process.ts'
import { environment, findProgram, installedIn, isPersonal, isWithin, realPath } from '../process/machine.ts'
import { isSystem } from './sandbox-view.ts'

/** A program that was found on this machine. */
export interface Interpreter extends Program {
  /** What it needs to be shown besides the system's folders. */
  readonly paths: readonly string[]
}

/** Finds the program of a language, and what it was installed with. */
export async function findInterpreter(program: Program, shown: readonly string[]): Promise<Interpreter> {
  const [name = '', ...args] = program.command
  const found = name === 'node' ? process.execPath : findProgram(name)
  if (found === undefined) {
    throw new ToolwrightError('INVALID_CONFIG', `"${name}" was not found: install it, or give the path of the program.`)
  }
  const { path, folders } = program.isPython ? await pythonOf(found) : { path: realPath(found) ?? found, folders: [] }
  const wanted = [installedIn(realPath(path) ?? path), ...folders]
  const paths = wanted.filter((folder) => ![...shown].some((one) => isWithin(folder, one)) && !isSystem(folder))
  const personal = paths.find(isPersonal)
  if (personal !== undefined) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `"${name}" is installed in ${personal}, which holds files that are nobody's business. Name the folders it needs in readOnlyPaths.`,
    )
  }
  return { ...program, command: [path, ...args], paths: [...new Set(paths)] }
}

/** Python itself knows where it is: what is found may be a script that chooses a version. */
async function pythonOf(found: string): Promise<{ path: string; folders: string[] }> {
  const { code, out, err } = await ask([found, '-c', ABOUT], environment())
  const about = code === 0 ? parse(out) : undefined
  if (!isRecord(about) || typeof about.executable !== 'string') {
    throw new ToolwrightError('INVALID_CONFIG', `${found} does not run as Python: ${err.slice(-500)}`)
  }
  return { path: about.executable, folders: [about.prefix, about.base].filter((path) => typeof path === 'string') }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const ABOUT =
  'import json, sys; print(json.dumps({"executable": sys.executable, "prefix": sys.prefix, "base": sys.base_prefix}))'
