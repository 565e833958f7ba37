// The plugin of vite and vitest: the one of rollup, and what their watch modes need on top of it. A project of vite can be tested
// with vitest, so both entry points have everything.
import { mentionsTools } from '../positions/may-use-functions.ts'
import type { InferPluginOptions } from './plugin-options.ts'
import { type RollupInferPlugin, type RollupTransformContext, rollupPlugin } from './rollup-plugin.ts'
import { sourceFileOf } from './source-file.ts'

/** What the plugin uses of the context that vite calls the transform with. */
interface ViteTransformContext extends RollupTransformContext {
  /** The environment that the module is transformed for. A build has no graph. */
  readonly environment?: { readonly name: string; readonly moduleGraph?: ViteModuleGraph }
}

/** The modules of a dev server. */
interface ViteModuleGraph {
  /** Finds a module. */
  getModuleById(id: string): ViteModule | undefined
  /** The module for a file that is no import. Creates it if there is none. */
  createFileOnlyEntry(file: string): ViteModule
}

/** A module of a dev server. */
interface ViteModule {
  /** The modules that change when this one changes. */
  readonly importers: Set<ViteModule>
  /** The modules that this one depends on. */
  readonly importedModules: Set<ViteModule>
}

/** What the plugin uses of the context that vitest configures plugins with. */
interface VitestConfigureContext {
  /** Registers what the key of a module in the cache of vitest depends on. False: the module is not cached. */
  defineCacheKeyGenerator?(generator: CacheKeyGenerator): void
  /** The name of it in vitest 4. */
  experimental_defineCacheKeyGenerator?(generator: CacheKeyGenerator): void
}

/** Decides whether vitest caches a module on disk. */
type CacheKeyGenerator = (module: { readonly id: string; readonly sourceCode: string }) => false | undefined

/** A plugin for vite and vitest. */
export interface ViteInferPlugin extends RollupInferPlugin {
  /** Keeps modules with tools out of the cache of vitest. */
  configureVitest(context: VitestConfigureContext): void
}

/** Creates the plugin for an entry point. */
export function vitePlugin(entryPoint: string, options: InferPluginOptions): ViteInferPlugin {
  const plugin = rollupPlugin(entryPoint, options)
  return {
    ...plugin,
    transform: {
      ...plugin.transform,
      handler(this: ViteTransformContext, source, id) {
        const graph = this.environment?.moduleGraph
        const watched: string[] = []
        const addWatchFile = (file: string): void => {
          watched.push(file)
          this.addWatchFile(file)
          // Vite keeps the result for a module whose imports change. It transforms the module again for a dependency that is no import.
          if (graph) this.addWatchFile(`${file}?toolwright`)
        }
        try {
          return plugin.transform.handler.call({ addWatchFile }, source, id)
        } catch (error) {
          addDependencies(graph, id, watched)
          throw error
        }
      },
    },
    configureVitest(context) {
      const define = context.defineCacheKeyGenerator ?? context.experimental_defineCacheKeyGenerator
      // The key has the text of a module only, but a transformed module changes with the types of other files.
      define?.(({ id, sourceCode }) => (mayUseTools(id, sourceCode) ? false : undefined))
    },
  }
}

/** Adds files that a module depends on. Vite does it for files to watch, but not if the transform of the module fails. */
function addDependencies(graph: ViteModuleGraph | undefined, id: string, files: readonly string[]): void {
  const module = graph?.getModuleById(id)
  if (!graph || !module) return
  for (const file of files) {
    const dependency = graph.createFileOnlyEntry(file)
    dependency.importers.add(module)
    module.importedModules.add(dependency)
  }
}

/** Whether a module may be transformed. */
function mayUseTools(id: string, source: string): boolean {
  return sourceFileOf(id) !== undefined && mentionsTools(source)
}
