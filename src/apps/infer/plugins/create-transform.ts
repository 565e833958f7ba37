import { readFileSync } from 'node:fs'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import { createInferrer } from '../create-inferrer.ts'
import type { Inferrer, TransformedFile } from '../inferrer.ts'
import { checkPluginOptions, type InferPluginOptions } from './plugin-options.ts'
import { sourceFileOf } from './source-file.ts'

/** Where a bundler calls the transform. */
interface ModuleToTransform {
  /** The id of the module: usually a path, with a query or without. */
  readonly id: string
  /** The text of the module. */
  readonly source: string
  /** Tells the bundler to transform the module again when this file changes. */
  watch(file: string): void
}

/** Transforms a module. Returns undefined if the module stays as it is. */
export type Transform = (module: ModuleToTransform) => TransformedFile | undefined

/** The part that all plugins share: checks the options, chooses the files, and watches the files that a result depends on. */
export function createTransform(entryPoint: string, options: InferPluginOptions): Transform {
  checkPluginOptions(entryPoint, options)
  const { include, cache } = options
  const inferrer = sharedInferrer(cache ?? true)
  return ({ id, source, watch }) => {
    const file = sourceFileOf(id)
    if (file === undefined || (include && !include(file))) return undefined
    try {
      const transformed = inferrer.transform(file, source)
      return transformed && { ...transformed, map: withContent(transformed.map, source) }
    } catch (error) {
      throw withOrderHint(error, file, source)
    } finally {
      // A module that depends on itself confuses the hot updates of vite.
      for (const one of inferrer.readFiles(file)) if (one !== file) watch(one)
    }
  }
}

/** Adds the source to a map, so that a debugger shows it without the file. */
function withContent(map: string, source: string): string {
  return JSON.stringify({ ...JSON.parse(map), sourcesContent: [source] })
}

const inferrers = new Map<boolean, Inferrer>()

/** One inferrer for all plugins of a process. vitest and tsdown create a plugin for each project or format, and compiling types takes long. */
function sharedInferrer(cache: boolean): Inferrer {
  const inferrer = inferrers.get(cache) ?? createInferrer({ cache })
  inferrers.set(cache, inferrer)
  return inferrer
}

/** Explains a mistake in a text that is not the one of the file: types that another plugin has removed cannot be read. */
export function withOrderHint(error: unknown, file: string, source: string): unknown {
  if (!(error instanceof ToolwrightError) || error.code !== 'INVALID_CONFIG' || isText(file, source)) return error
  return new ToolwrightError(
    error.code,
    `${messageOf(error)}\nAnother plugin or loader changed ${file} before toolwright/infer read it. ` +
      'Let toolwright/infer run first: it needs the types. For a compiler that cannot run later, use the command "toolwright infer".',
    { cause: error },
  )
}

function isText(file: string, source: string): boolean {
  try {
    return readFileSync(file, 'utf8') === source
  } catch {
    return true // no file to compare with
  }
}
