/**
 * A regular expression that is made at its first use, for patterns with Unicode properties such as `\p{L}`. V8 looks the characters of
 * a property up when it parses a literal, also in a function that is never called: each literal makes the import of the package slower.
 */
export function lazyPattern(source: string, flags: string): () => RegExp {
  let pattern: RegExp | undefined
  return () => {
    pattern ??= new RegExp(source, flags)
    return pattern
  }
}
