/**
 * Plain functions as tools in projects that esbuild builds: the default export is the plugin.
 *
 * @module
 */

import { type EsbuildInferPlugin, esbuildPlugin } from './esbuild-plugin.ts'
import type { InferPluginOptions } from './plugin-options.ts'

export type { EsbuildInferPlugin, InferPluginOptions }

/**
 * The plugin of `toolwright/infer` for esbuild: plain functions become tools.
 *
 * @example
 * await build({ entryPoints: ['src/agent.ts'], bundle: true, platform: 'node', plugins: [infer()] })
 */
export default function infer(options: InferPluginOptions = {}): EsbuildInferPlugin {
  return esbuildPlugin('toolwright/infer/esbuild', options)
}
