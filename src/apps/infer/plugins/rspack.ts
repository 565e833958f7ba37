/**
 * Plain functions as tools in projects that rspack builds: the default export is the plugin.
 *
 * @module
 */

import { fileURLToPath } from 'node:url'
import { type LoaderInferPlugin, loaderPlugin } from './loader-plugin.ts'
import type { InferPluginOptions } from './plugin-options.ts'

export type { InferPluginOptions, LoaderInferPlugin }

// beside this file: loader.js when built, loader.ts in the repository
const loader = fileURLToPath(import.meta.url).replace(/rspack(?=\.[jt]s$)/, 'loader')

/**
 * The plugin of `toolwright/infer` for rspack: plain functions become tools.
 *
 * @example
 * export default { entry: './src/agent.ts', plugins: [infer()], module: { rules: [{ test: /\.ts$/, loader: 'builtin:swc-loader' }] } }
 */
export default function infer(options: InferPluginOptions = {}): LoaderInferPlugin {
  return loaderPlugin('toolwright/infer/rspack', loader, options)
}
