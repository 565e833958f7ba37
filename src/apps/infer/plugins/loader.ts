// The loader that webpack and rspack run for every source file. The plugins add it to the configuration.
import type { Transform } from './create-transform.ts'

/** What the loader uses of the context that webpack and rspack call it with. */
interface LoaderContext {
  /** The absolute path of the file. */
  readonly resourcePath: string
  /** The query of the import, with its `?`. */
  readonly resourceQuery: string
  /** The options that the plugin gave the loader. */
  getOptions(): { readonly transform: Transform }
  /** Makes the bundler build the module again when the file changes. */
  addDependency(file: string): void
  /** Returns a result with its source map. */
  callback(error: null, code: string, map: unknown): void
}

/** Transforms a file. A mistake is thrown: the bundler reports it as an error of the module. */
export default function loader(this: LoaderContext, source: string, map: unknown): void {
  const { transform } = this.getOptions()
  const id = this.resourcePath + this.resourceQuery
  const transformed = transform({ id, source, watch: (file) => this.addDependency(file) })
  if (transformed === undefined) this.callback(null, source, map)
  else this.callback(null, transformed.code, JSON.parse(transformed.map))
}
