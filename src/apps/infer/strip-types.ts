// Node removes types but does not compile TypeScript: a file with an enum fails. Node's own error does not say what to do.
import { stripTypeScriptTypes } from 'node:module'
import { messageOf, ToolwrightError } from '../../core/error/error.ts'

/** Syntax that may need a compiler. Only a file that matches is checked, because checking takes as long as loading. */
const MAY_NEED_COMPILER =
  /(?<!\bdeclare\s+(?:const\s+)?)\benum\s+[\w$]+\s*\{|(?<!\bdeclare\s+)\b(?:namespace|module)\s+[\w$.]+\s*\{|\bconstructor\s*\((?:[^)]*,)?\s*(?:public|private|protected|readonly|override)\s+[\w$]|\bimport\s+[\w$]+\s*=|^\s*export\s*=/m

/** Throws INVALID_CONFIG if Node cannot run a TypeScript file because removing its types is not enough. */
export function checkStrippable(file: string, source: string): void {
  if (process.features.typescript === 'transform' || !MAY_NEED_COMPILER.test(source)) return
  explainUnstrippable(file, () => stripTypeScriptTypes(source))
}

/** Runs code that removes the types of a file. Explains the error for syntax that Node cannot remove. */
export function explainUnstrippable<T>(file: string, strip: () => T): T {
  try {
    return strip()
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') throw error
    const problem = messageOf(error)
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${file}${positionIn(error)} ${problem}. Node strips types and does not compile TypeScript. ${adviceFor(problem)} Or run a bundler with a plugin of toolwright/infer.`,
      { cause: error },
    )
  }
}

/** The position that Node shows above the stack: a line with the number of the line, then the code with `^` below the mistake. */
function positionIn(error: unknown): string {
  const lines = String((error as Error).stack).split('\n')
  const line = /:(\d+)$/.exec(lines[0] ?? '')?.[1]
  const column = lines.find((text) => /^\s*\^+$/.test(text))?.indexOf('^')
  if (line === undefined) return ''
  return column === undefined ? `:${line}` : `:${line}:${column + 1}`
}

function adviceFor(problem: string): string {
  if (problem.includes('enum'))
    return 'Declare the enum in another file and import it with `import type`, or use a union of literals or an object instead.'
  if (problem.includes('namespace') || problem.includes('module'))
    return 'Export the members of the namespace from a file of their own.'
  if (problem.includes('parameter property'))
    return 'Declare the property in the class and assign it in the constructor.'
  return 'Write it with syntax that has no effect at run time.'
}
