// The plugin of rollup, and of the bundlers that take rollup plugins: vite, vitest, rolldown and tsdown. The types are our own, so that
// the declarations of this package work without the packages of the bundlers.
import { createTransform } from './create-transform.ts'
import type { InferPluginOptions } from './plugin-options.ts'
import { SOURCE_ID } from './source-file.ts'

/** What the plugin uses of the context that a bundler calls its hooks with. */
export interface RollupTransformContext {
  /** Makes the bundler transform the module again when the file changes. */
  addWatchFile(file: string): void
}

/** A plugin for rollup and the bundlers that take its plugins. */
export interface RollupInferPlugin {
  /** The name in errors of the bundler. */
  readonly name: string
  /** Puts the plugin before the ones of vite that remove the types. */
  readonly enforce: 'pre'
  /** The hook that transforms a module. */
  readonly transform: {
    /** Puts the hook before the ones that remove the types. */
    readonly order: 'pre'
    /** The modules that the hook is called for. */
    readonly filter: { readonly id: RegExp }
    /** Transforms a module. */
    handler(this: RollupTransformContext, code: string, id: string): { code: string; map: string } | undefined
  }
}

/** Creates the plugin for an entry point. */
export function rollupPlugin(entryPoint: string, options: InferPluginOptions): RollupInferPlugin {
  const transform = createTransform(entryPoint, options)
  return {
    name: 'toolwright:infer',
    enforce: 'pre',
    transform: {
      order: 'pre',
      filter: { id: SOURCE_ID },
      handler(source, id) {
        const transformed = transform({ id, source, watch: (file) => this.addWatchFile(file) })
        return transformed && { code: transformed.code, map: transformed.map }
      },
    },
  }
}
