/**
 * Plain functions as tools in projects that vitest tests: the default export is the plugin.
 *
 * @module
 */

import type { InferPluginOptions } from './plugin-options.ts'
import { type ViteInferPlugin, vitePlugin } from './vite-plugin.ts'

export type { InferPluginOptions, ViteInferPlugin }

/**
 * The plugin of `toolwright/infer` for vitest: plain functions become tools.
 *
 * @example
 * export default defineConfig({ plugins: [infer()], test: { environment: 'node' } })
 */
export default function infer(options: InferPluginOptions = {}): ViteInferPlugin {
  return vitePlugin('toolwright/infer/vitest', options)
}
