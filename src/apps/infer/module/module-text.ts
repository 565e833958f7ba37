import { basename } from 'node:path'
import { readableLiteral } from '../output/literal.ts'
import type { ExportedFunction } from './exported-functions.ts'

/** A module to write. */
export interface InferredModule {
  /** The source file. */
  readonly file: string
  /** How the module imports the source file: `./tools.ts`. */
  readonly specifier: string
  /** The functions that it attaches to. */
  readonly functions: readonly ExportedFunction[]
}

/** The path of the module for a source file: `tools.infer.ts` for `tools.ts`. */
export function modulePath(file: string): string {
  return file.replace(/\.([cm]?)([tj])sx?$/, '.infer.$1$2s')
}

const HEADER = '// Generated from the types and doc comments of'

/** Whether a text was written by this command. Other tools may have put lines above its first one. */
export function isGenerated(text: string): boolean {
  return text.split(/\r?\n/).some((line) => line.startsWith(HEADER))
}

/** The text of the module. It attaches what was inferred to each function. */
export function moduleText({ file, specifier, functions }: InferredModule): string {
  const name = basename(file).replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ')
  const imports = [...new Set(functions.map(({ exportName }) => exportName))].map((exportName) => {
    const local = localName(exportName)
    return exportName === local
      ? exportName
      : `${IDENTIFIER.test(exportName) ? exportName : JSON.stringify(exportName)} as ${local}`
  })
  const calls = functions.map((fn) => `attachInferred(${calledExpression(fn)}, ${readableLiteral(fn.inferred)})\n`)
  return `${HEADER} ${name} by \`toolwright infer ${name}\`. Run the command again after a change.
import { attachInferred } from 'toolwright/infer'
import { ${imports.join(', ')} } from ${quoted(specifier)}

${calls.join('\n')}`
}

/** The expression for a function in the module: `getWeather`, or `Orders.refund`. */
export function calledExpression({ exportName, method }: ExportedFunction): string {
  const owner = localName(exportName)
  if (method === undefined) return owner
  return IDENTIFIER.test(method) ? `${owner}.${method}` : `${owner}[${JSON.stringify(method)}]`
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u
const RESERVED =
  /^(?:await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|eval|arguments|export|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|package|private|protected|public|return|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|with|yield)$/

/** The name of an export in the module. Names that a module cannot declare, or declares itself, get another one. */
function localName(exportName: string): string {
  const isUsable = IDENTIFIER.test(exportName) && !RESERVED.test(exportName) && exportName !== 'attachInferred'
  if (isUsable && !exportName.startsWith('exported_')) return exportName
  return `exported_${[...exportName].map((sign) => (/[\w$]/.test(sign) ? sign : `_${sign.codePointAt(0)}`)).join('')}`
}

/** A string literal. Single quotes are usual in imports; a path with special characters is written as JSON. */
function quoted(text: string): string {
  return /^[^'\\\p{Cc}\u2028\u2029]*$/u.test(text) ? `'${text}'` : JSON.stringify(text)
}
