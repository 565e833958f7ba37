// The plugin of esbuild. The types are our own, so that the declarations of this package work without the package of esbuild.
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { messageOf } from '../../../core/error/error.ts'
import { createTransform } from './create-transform.ts'
import { inlineMap } from './inline-map.ts'
import type { InferPluginOptions } from './plugin-options.ts'
import { SOURCE_ID } from './source-file.ts'

/** The loaders of esbuild that keep what the transform writes. */
type EsbuildCodeLoader = 'ts' | 'tsx' | 'js' | 'jsx'

/** What the plugin returns to esbuild for a file that it transforms. */
interface EsbuildLoadedFile {
  /** The code, with its source map. */
  readonly contents?: string
  /** How esbuild reads the code. */
  readonly loader?: EsbuildCodeLoader
  /** The mistakes of the file. */
  readonly errors?: { text: string; detail: unknown }[]
  /** The files whose change needs a new build. */
  readonly watchFiles: string[]
}

/** What the plugin uses of a build of esbuild. */
interface EsbuildBuild {
  /** The options of the build. */
  readonly initialOptions: { readonly loader?: { readonly [extension: string]: string } }
  /** Registers a callback that loads files. */
  onLoad(
    options: { filter: RegExp; namespace: string },
    callback: (file: EsbuildFile) => EsbuildLoadedFile | undefined,
  ): void
}

/** What the plugin uses of a file that esbuild loads. */
interface EsbuildFile {
  /** The absolute path. */
  readonly path: string
  /** The attributes of the import. */
  readonly with: { readonly [attribute: string]: string }
}

/** A plugin for esbuild. */
export interface EsbuildInferPlugin {
  /** The name in errors of esbuild. */
  readonly name: string
  /** Registers the transform in a build. */
  setup(build: EsbuildBuild): void
}

/** Creates the plugin for an entry point. */
export function esbuildPlugin(entryPoint: string, options: InferPluginOptions): EsbuildInferPlugin {
  const transform = createTransform(entryPoint, options)
  return {
    name: 'toolwright-infer',
    setup({ initialOptions, onLoad }) {
      onLoad({ filter: SOURCE_ID, namespace: 'file' }, ({ path, with: { type } }) => {
        const loader = codeLoader(path, initialOptions.loader)
        if (loader === undefined || type !== undefined) return undefined
        const watchFiles = [path] // esbuild does not watch a file that a plugin loads
        try {
          const watch = (file: string): unknown => watchFiles.push(file)
          const transformed = transform({ id: path, source: readFileSync(path, 'utf8'), watch })
          return transformed && { contents: inlineMap(transformed), loader, watchFiles }
        } catch (error) {
          return { errors: [{ text: messageOf(error), detail: error }], watchFiles }
        }
      })
    },
  }
}

const LOADERS: ReadonlyMap<string, EsbuildCodeLoader> = new Map([
  ['.ts', 'ts'],
  ['.mts', 'ts'],
  ['.tsx', 'tsx'],
  ['.js', 'js'],
  ['.mjs', 'js'],
  ['.jsx', 'jsx'],
])

/** The loader of a file. Undefined if the options of the build load it as something else than code. */
function codeLoader(path: string, configured: EsbuildBuild['initialOptions']['loader']): EsbuildCodeLoader | undefined {
  const extension = extname(path)
  const loader = configured?.[extension] ?? 'default'
  return loader === 'default' ? LOADERS.get(extension) : [...LOADERS.values()].find((one) => one === loader)
}
