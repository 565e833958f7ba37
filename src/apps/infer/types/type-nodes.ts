// Types as they are written. A type that the compiler has resolved knows neither the order of a union nor the aliases it came from.
import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'

/** The node of the items of an array: `T` of `T[]`, `readonly T[]` and `Array<T>`, also through an alias. */
export function elementNode(
  ts: TypeScript,
  checker: ts.TypeChecker,
  node: ts.TypeNode | undefined,
): ts.TypeNode | undefined {
  const inner = target(ts, checker, node)
  if (!inner) return undefined
  if (ts.isArrayTypeNode(inner)) return inner.elementType
  if (!ts.isTypeReferenceNode(inner) || !ts.isIdentifier(inner.typeName)) return undefined
  return /^(Readonly)?Array$/.test(inner.typeName.text) ? inner.typeArguments?.[0] : undefined
}

/** The nodes of the items of a tuple, without names and marks, also through an alias. */
export function tupleNodes(
  ts: TypeScript,
  checker: ts.TypeChecker,
  node: ts.TypeNode | undefined,
): readonly (ts.TypeNode | undefined)[] {
  const inner = target(ts, checker, node)
  if (!inner || !ts.isTupleTypeNode(inner)) return []
  return inner.elements.map((element) => {
    const type = ts.isNamedTupleMember(element) ? element.type : element
    if (ts.isOptionalTypeNode(type)) return type.type
    const isRest = ts.isRestTypeNode(type) || (ts.isNamedTupleMember(element) && element.dotDotDotToken)
    return isRest ? elementNode(ts, checker, ts.isRestTypeNode(type) ? type.type : type) : type
  })
}

/** The node of the values of `Record<string, T>`, also inside of `Readonly` and `Partial` and through an alias. */
export function recordValueNode(
  ts: TypeScript,
  checker: ts.TypeChecker,
  node: ts.TypeNode | undefined,
): ts.TypeNode | undefined {
  const inner = target(ts, checker, node)
  if (!inner || !ts.isTypeReferenceNode(inner) || !ts.isIdentifier(inner.typeName)) return undefined
  const { text } = inner.typeName
  if (text === 'Record') return inner.typeArguments?.[1]
  return text === 'Readonly' || text === 'Partial' ? recordValueNode(ts, checker, inner.typeArguments?.[0]) : undefined
}

/** The node that replaces the type parameter `T` of a property: `Percent` for `value: T` of `Box<Percent>`, also through an alias. */
export function argumentNode(
  ts: TypeScript,
  checker: ts.TypeChecker,
  node: ts.TypeNode | undefined,
  property: ts.TypeNode | undefined,
): ts.TypeNode | undefined {
  const inner = target(ts, checker, node)
  if (!inner || !ts.isTypeReferenceNode(inner) || !property || !ts.isTypeReferenceNode(property)) return undefined
  const parameter = checker.getSymbolAtLocation(property.typeName)?.declarations?.find(ts.isTypeParameterDeclaration)
  const owner = parameter?.parent
  if (!owner || !(ts.isInterfaceDeclaration(owner) || ts.isTypeAliasDeclaration(owner))) return undefined
  return inner.typeArguments?.[owner.typeParameters?.indexOf(parameter) ?? -1]
}

/** The members of a union as they are written, also those of the aliases it names. */
export function unionNodes(ts: TypeScript, checker: ts.TypeChecker, node: ts.TypeNode | undefined): ts.TypeNode[] {
  return collect(node, 0)
  function collect(part: ts.TypeNode | undefined, depth: number): ts.TypeNode[] {
    const inner = unwrap(ts, part)
    if (!inner || depth > 20) return []
    if (ts.isUnionTypeNode(inner)) return inner.types.flatMap((member) => collect(member, depth + 1))
    const alias = aliasOf(ts, checker, inner)
    const isUnion = alias && !alias.typeParameters && checker.getTypeFromTypeNode(inner).isUnion()
    if (isUnion) return collect(alias.type, depth + 1)
    return [inner]
  }
}

/** The declaration of the alias that a node names. */
export function aliasOf(
  ts: TypeScript,
  checker: ts.TypeChecker,
  node: ts.TypeNode | undefined,
): ts.TypeAliasDeclaration | undefined {
  const inner = unwrap(ts, node)
  if (!inner || !ts.isTypeReferenceNode(inner)) return undefined
  const symbol = checker.getSymbolAtLocation(inner.typeName)
  const target = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  return target?.declarations?.find(ts.isTypeAliasDeclaration)
}

/** What a node stands for: the type of an alias without parameters, else the node. */
function target(ts: TypeScript, checker: ts.TypeChecker, node: ts.TypeNode | undefined): ts.TypeNode | undefined {
  let inner = unwrap(ts, node)
  for (let depth = 0; depth < 20; depth++) {
    const alias = aliasOf(ts, checker, inner)
    if (!alias || alias.typeParameters) break
    inner = unwrap(ts, alias.type)
  }
  return inner
}

/** A node without parentheses and `readonly`. */
function unwrap(ts: TypeScript, node: ts.TypeNode | undefined): ts.TypeNode | undefined {
  let inner = node
  while (inner) {
    if (ts.isParenthesizedTypeNode(inner)) inner = inner.type
    else if (ts.isTypeOperatorNode(inner) && inner.operator === ts.SyntaxKind.ReadonlyKeyword) inner = inner.type
    else break
  }
  return inner
}
