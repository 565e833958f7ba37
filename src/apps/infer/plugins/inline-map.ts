import type { TransformedFile } from '../inferrer.ts'

/** The code with its source map in a comment, for tools that take the map from there only: Node and esbuild. */
export function inlineMap({ code, map }: TransformedFile): string {
  const base64 = Buffer.from(map).toString('base64')
  return `${code}\n//# sourceMappingURL=data:application/json;charset=utf-8;base64,${base64}\n`
}
