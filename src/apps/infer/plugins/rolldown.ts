/**
 * Plain functions as tools in projects that rolldown builds: the default export is the plugin.
 *
 * @module
 */

import type { InferPluginOptions } from './plugin-options.ts'
import { type RollupInferPlugin, rollupPlugin } from './rollup-plugin.ts'

export type { InferPluginOptions, RollupInferPlugin }

/**
 * The plugin of `toolwright/infer` for rolldown: plain functions become tools.
 *
 * @example
 * export default defineConfig({ input: 'src/agent.ts', plugins: [infer()] })
 */
export default function infer(options: InferPluginOptions = {}): RollupInferPlugin {
  return rollupPlugin('toolwright/infer/rolldown', options)
}
