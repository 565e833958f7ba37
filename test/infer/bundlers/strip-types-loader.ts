// A loader for webpack that removes types, like the ones that its users install.
import { transformSync } from 'esbuild'

interface LoaderContext {
  readonly resourcePath: string
  callback(error: null, code: string, map: unknown): void
}

/** Removes the types of a file. Combines the source map of the loaders before it with its own. */
export default function stripTypes(this: LoaderContext, source: string, map: unknown): void {
  const base64 = Buffer.from(JSON.stringify(map ?? null)).toString('base64')
  const input = map ? `${source}\n//# sourceMappingURL=data:application/json;base64,${base64}` : source
  const result = transformSync(input, { loader: 'ts', sourcefile: this.resourcePath, sourcemap: true })
  this.callback(null, result.code, JSON.parse(result.map))
}
