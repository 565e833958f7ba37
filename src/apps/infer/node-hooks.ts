// Transforms the files that Node loads.
import { type LoadFnOutput, registerHooks, setSourceMapsSupport } from 'node:module'
import { fileURLToPath } from 'node:url'
import { ToolwrightError } from '../../core/error/error.ts'
import { createInferrer } from './create-inferrer.ts'
import { isToolwrightFile } from './functions/toolwright-types.ts'
import type { Inferrer } from './inferrer.ts'
import { withOrderHint } from './plugins/create-transform.ts'
import { inlineMap } from './plugins/inline-map.ts'
import { sourceFileAt } from './plugins/source-file.ts'
import { checkStrippable, explainUnstrippable } from './strip-types.ts'

/** The options of `installInferHooks`. */
export interface InferHookOptions {
  /** Whether to throw MISSING_PEER if there is no compiler. If false, files then stay as they are. Default: true. */
  readonly requireCompiler?: boolean
  /** Whether results are kept on disk for the next start. Default: true. */
  readonly cache?: boolean
  /** Called with each file that Node loads, and with each file whose types were read for it, before an error is thrown. */
  readonly onFile?: ((file: string) => void) | undefined
}

/** Set on the global object, because a process can load this file twice: from the command and from the package of the app. */
const INSTALLED = Symbol.for('toolwright.infer.hooks')

/** Installs module hooks in this thread that transform the files it loads from now on. Does nothing if they are installed. */
export function installInferHooks({ requireCompiler = true, cache = true, onFile }: InferHookOptions = {}): void {
  const inferrer = createInferrer({ cache, requireCompiler })
  if (Object.hasOwn(globalThis, INSTALLED)) return
  Object.defineProperty(globalThis, INSTALLED, { value: true })
  setSourceMapsSupport(true) // stack traces show the positions in the source
  registerHooks({
    load(url, context, nextLoad) {
      const path = url.startsWith('file:') ? fileURLToPath(url) : undefined
      if (path !== undefined) onFile?.(path)
      const file = path === undefined ? undefined : sourceFileAt(path)
      if (file === undefined || isToolwrightFile(file)) return nextLoad(url, context)
      const loaded = explainUnstrippable(file, () => nextLoad(url, context))
      try {
        return transformLoaded(inferrer, file, loaded)
      } finally {
        if (onFile) for (const read of inferrer.readFiles(file)) onFile(read)
      }
    },
  })
}

const MODULE_FORMATS: ReadonlySet<unknown> = new Set(['module', 'module-typescript'])

function transformLoaded(inferrer: Inferrer, file: string, loaded: LoadFnOutput): LoadFnOutput {
  if (!MODULE_FORMATS.has(loaded.format) || loaded.source === undefined || loaded.source === null) return loaded
  const source = typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString()
  if (loaded.format === 'module-typescript') checkStrippable(file, source)
  try {
    const transformed = inferrer.transform(file, source)
    return transformed === undefined ? loaded : { ...loaded, source: inlineMap(transformed) }
  } catch (error) {
    if (error instanceof ToolwrightError && error.code === 'MISSING_PEER') return loaded // requireCompiler is false
    throw withOrderHint(error, file, source)
  }
}
