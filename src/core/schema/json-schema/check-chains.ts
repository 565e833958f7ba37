import type { SchemaNode, Subschema } from './schema-node.ts'

/** How many schemas may apply to one value through a chain of references and subschemas. */
const MAX_CHAIN = 300

/**
 * Checks that no reference leads back to itself for the same value, because validation would never end. Calls `fail`
 * with the problem.
 */
export function checkChains(nodes: Iterable<SchemaNode>, fail: (problem: string) => never): void {
  const lengths = new Map<SchemaNode, number>()
  const open = new Set<SchemaNode>()
  const tooLong = (): never =>
    fail(
      `more than ${MAX_CHAIN} schemas apply to one value through a chain of references and subschemas. Shorten the chain.`,
    )
  const chainLength = (node: SchemaNode): number => {
    const known = lengths.get(node)
    if (known !== undefined) return known
    if (open.has(node))
      fail(
        '"$ref": a reference leads back to itself for the same value, so validation would never end. Refer to the schema of a property or an item instead.',
      )
    if (open.size > MAX_CHAIN) tooLong()
    open.add(node)
    let longest = 0
    for (const part of schemasOfSameValue(node)) longest = Math.max(longest, chainLength(part.node))
    open.delete(node)
    if (longest >= MAX_CHAIN) tooLong()
    lengths.set(node, longest + 1)
    return longest + 1
  }
  for (const node of nodes) chainLength(node)
}

/** The subschemas that apply to the same value as the schema itself. */
function* schemasOfSameValue(node: SchemaNode): Iterable<Subschema> {
  for (const part of [node.ref, node.not, node.if, node.then, node.else]) if (part) yield part
  for (const parts of [node.allOf, node.anyOf, node.oneOf]) if (parts) yield* parts
  for (const [, part] of node.object?.dependentSchemas ?? []) yield part
}
