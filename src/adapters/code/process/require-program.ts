import { ToolwrightError } from '../../../core/error/error.ts'
import { findProgram } from './machine.ts'

/** The path of an interpreter. `node` is the Node.js that runs this process. Throws when the program is not installed. */
export function requireProgram(name: string): string {
  const path = name === 'node' ? process.execPath : findProgram(name)
  if (path !== undefined) return path
  throw new ToolwrightError('INVALID_CONFIG', `Program "${name}" was not found. Install it or give its absolute path.`)
}
