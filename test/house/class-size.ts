import { isNode, type Node, visit } from '../source.ts'
import { type Measurement, measure, type ParsedFile } from './parsed-file.ts'

/** The number of fields of each class that are not `readonly`, private ones included. */
export function mutableFieldsPerClass(files: readonly ParsedFile[]): Measurement[] {
  return perClass(files, (_, body) => body.filter(isMutable).length)
}

/** The number of lines of each class, without blank lines and comments: the examples of a public class are not its code. */
export function codeLinesPerClass(files: readonly ParsedFile[]): Measurement[] {
  return perClass(files, ({ text }, _, node) => {
    const code = text.slice(Number(node.start), Number(node.end)).replaceAll(/\/\*[\s\S]*?\*\//g, '')
    return code.split('\n').filter((line) => !/^\s*(\/\/.*)?$/.test(line)).length
  })
}

function perClass(
  files: readonly ParsedFile[],
  measured: (file: ParsedFile, body: readonly Node[], node: Node) => number,
): Measurement[] {
  return files.flatMap((file) => {
    const found: Measurement[] = []
    visit(file.program, (node) => {
      if (node.type !== 'ClassDeclaration' && node.type !== 'ClassExpression') return
      const name = isNode(node.id) ? String(node.id.name) : 'class'
      found.push(measure(file, node, name, measured(file, (node.body as Node).body as Node[], node)))
    })
    return found
  })
}

function isMutable({ type, readonly, static: isStatic, value }: Node): boolean {
  return type === 'PropertyDefinition' && readonly !== true && isStatic !== true && !isFunction(value)
}

const isFunction = (value: unknown): boolean => isNode(value) && /Function/.test(value.type)
