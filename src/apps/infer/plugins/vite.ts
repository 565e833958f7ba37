/**
 * Plain functions as tools in projects that vite builds: the default export is the plugin.
 *
 * @module
 */

import type { InferPluginOptions } from './plugin-options.ts'
import { type ViteInferPlugin, vitePlugin } from './vite-plugin.ts'

export type { InferPluginOptions, ViteInferPlugin }

/**
 * The plugin of `toolwright/infer` for vite: plain functions become tools.
 *
 * @example
 * export default defineConfig({ plugins: [infer()] })
 */
export default function infer(options: InferPluginOptions = {}): ViteInferPlugin {
  return vitePlugin('toolwright/infer/vite', options)
}
