// An order that does not depend on which types the compiler has seen before.
import type ts from 'typescript-classic'
import type { Reading } from './reading.ts'

/** Sorts the members of a union that no source spells out: numbers by value, others by their text. Enums keep their order. */
export function sortMembers({ ts, checker }: Reading, union: ts.Type, members: readonly ts.Type[]): ts.Type[] {
  if (union.flags & ts.TypeFlags.EnumLiteral) return [...members]
  const flags = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope
  const texts = new Map(members.map((type) => [type, checker.typeToString(type, undefined, flags)]))
  return members.toSorted((a, b) =>
    a.isNumberLiteral() && b.isNumberLiteral()
      ? a.value - b.value
      : compare(texts.get(a) ?? '', texts.get(b) ?? '') || compare(positionOf(a.symbol), positionOf(b.symbol)),
  )
}

/**
 * The properties of a type in the order of the source. A mapped type, such as `Pick` or `Record`, has them in the order in which the
 * compiler has seen their names: here they follow their declarations, or else the alphabet.
 */
export function orderedProperties(reading: Reading, type: ts.Type): ts.Symbol[] {
  const { ts, checker } = reading
  const properties = checker.getPropertiesOfType(type)
  if (type.isIntersection()) {
    const names = type.types.flatMap((part) => orderedProperties(reading, part).map(({ name }) => name))
    return properties.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name))
  }
  if (!((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Mapped)) return properties
  const files = new Set(properties.map((symbol) => symbol.declarations?.[0]?.getSourceFile()))
  if (files.has(undefined) || files.size > 1) return properties.toSorted((a, b) => compare(a.name, b.name))
  return properties.toSorted((a, b) => startOf(a) - startOf(b))
}

function positionOf(symbol: ts.Symbol | undefined): string {
  const file = symbol?.declarations?.[0]?.getSourceFile().fileName ?? ''
  return `${file}:${String(symbol ? startOf(symbol) : 0).padStart(9, '0')}`
}

function startOf({ declarations }: ts.Symbol): number {
  return declarations?.[0]?.pos ?? 0
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
