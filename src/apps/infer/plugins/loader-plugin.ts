// The plugin of webpack and rspack. The types are our own, so that the declarations of this package work without the packages of the
// bundlers.
import { createTransform } from './create-transform.ts'
import type { InferPluginOptions } from './plugin-options.ts'
import { SOURCE_ID } from './source-file.ts'

/** What the plugin uses of a compiler of webpack or rspack. */
interface LoaderCompiler {
  /** The options of the build. */
  readonly options: { readonly module: { readonly rules: unknown[] } }
}

/** A plugin for webpack or rspack. */
export interface LoaderInferPlugin {
  /** Adds the transform to a compiler. */
  apply(compiler: LoaderCompiler): void
}

/**
 * Creates the plugin for an entry point.
 *
 * @param loader The path of the loader. Entry points know it, because they are built into files of their own beside it.
 */
export function loaderPlugin(entryPoint: string, loader: string, options: InferPluginOptions): LoaderInferPlugin {
  const transform = createTransform(entryPoint, options)
  return {
    apply({ options: { module } }) {
      // The last rule of the kind "pre" runs first: before loaders that change or remove the types.
      module.rules.push({ enforce: 'pre', test: SOURCE_ID, use: [{ loader, options: { transform } }] })
    },
  }
}
