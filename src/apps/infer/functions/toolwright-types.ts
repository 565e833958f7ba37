import { readFileSync } from 'node:fs'
import type ts from 'typescript-classic'

const CONTEXTS: ReadonlySet<string> = new Set(['ToolContext', 'CallbackContext', 'ReadonlyContext'])

/** Whether a parameter of this type takes the context of the call. */
export function isContextType(type: ts.Type): boolean {
  const { symbol } = type
  return symbol !== undefined && CONTEXTS.has(symbol.name) && isToolwrightSymbol(symbol)
}

/** Whether a property is one of the context, also in `Pick<ToolContext, ...>`. */
export function isContextMember(property: ts.Symbol): boolean {
  return (
    property.declarations?.some(
      ({ parent }) =>
        'name' in parent && CONTEXTS.has(nameOf(parent)) && isToolwrightFile(parent.getSourceFile().fileName),
    ) ?? false
  )
}

function nameOf(node: ts.Node): string {
  const { name } = node as { name?: { text?: string } }
  return name?.text ?? ''
}

/** Whether a symbol is declared by this package: in its output, or in its source. */
export function isToolwrightSymbol(symbol: ts.Symbol): boolean {
  return symbol.declarations?.some((node) => isToolwrightFile(node.getSourceFile().fileName)) ?? false
}

const known = new Map<string, boolean>()

/** Whether a file is code of this package, also of another copy of it. */
export function isToolwrightFile(file: string): boolean {
  const folder = /^(.*)[\\/](?:dist|src)[\\/]/.exec(file)?.[1]
  if (folder === undefined) return false
  const isOurs = known.get(folder) ?? readName(`${folder}/package.json`) === 'toolwright'
  known.set(folder, isOurs)
  return isOurs
}

function readName(manifest: string): string | undefined {
  try {
    return JSON.parse(readFileSync(manifest, 'utf8')).name
  } catch {
    return undefined
  }
}
