import { closestNames } from '../../core/base/closest-names.ts'

/** A problem for each name in a `toolFilter` that no usable tool has. Such a name selects nothing, so it is most likely misspelled. */
export function unknownFilterNames(toolFilter: unknown, known: readonly string[]): string[] {
  if (!Array.isArray(toolFilter)) return []
  return toolFilter
    .filter((name) => !known.includes(name))
    .map((name) => {
      const [meant] = closestNames(String(name), known)
      const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`
      return `toolFilter names "${name}", but no usable tool has this name.${hint}`
    })
}
