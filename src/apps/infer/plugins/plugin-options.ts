import { callback, checkOptions, flag, type OptionRules } from '../../../core/error/check-options.ts'

/** The options of every plugin of `toolwright/infer`. */
export interface InferPluginOptions {
  /** Limits the transform to the files for which it returns true. Takes an absolute path. Default: all source files outside of node_modules. */
  readonly include?: ((file: string) => boolean) | undefined
  /** Whether results are kept on disk for the next build. Default: true. */
  readonly cache?: boolean | undefined
}

const RULES: OptionRules<InferPluginOptions> = { include: callback, cache: flag }

/** Throws INVALID_CONFIG if an option is unknown or has the wrong type. */
export function checkPluginOptions(entryPoint: string, options: InferPluginOptions): void {
  checkOptions(`The plugin of ${entryPoint}`, options, RULES)
}
