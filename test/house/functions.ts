import { isNode, type Node, visit } from '../source.ts'
import { lineCount, type Measurement, measure, type ParsedFile } from './parsed-file.ts'

/** The number of parameters of each function, method and constructor. */
export function parametersPerFunction(files: readonly ParsedFile[]): Measurement[] {
  return files.flatMap((file) =>
    functions(file.program).map(({ node, name }) => {
      const parameters = (node.params as Node[]).filter((parameter) => parameter.name !== 'this')
      return measure(file, node, name, parameters.length)
    }),
  )
}

/** The number of lines of each function with a block body; a one-line arrow function is not measured. */
export function linesPerFunction(files: readonly ParsedFile[]): Measurement[] {
  return files.flatMap((file) =>
    functions(file.program)
      .filter(({ node }) => isNode(node.body) && node.expression !== true)
      .map(({ node, name }) => measure(file, node, name, lineCount(file, node))),
  )
}

interface NamedFunction {
  readonly node: Node
  readonly name: string
}

const functionTypes = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|TSDeclareFunction)$/

function functions(program: Node): NamedFunction[] {
  const found: NamedFunction[] = []
  const names = new Map<unknown, string>()
  visit(program, (node) => {
    // A method, a property or a variable names the function it holds.
    const holder = isNode(node.key) ? node.key : isNode(node.id) ? node.id : undefined
    const held = node.type === 'VariableDeclarator' ? node.init : node.value
    if (holder && isNode(held)) names.set(held, String(holder.name ?? holder.value))
    if (functionTypes.test(node.type)) {
      const own = isNode(node.id) ? String(node.id.name) : undefined
      found.push({ node, name: own ?? names.get(node) ?? 'function' })
    }
  })
  return found
}
