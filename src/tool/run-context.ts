import { ToolwrightError } from '../error/error.ts'

/**
 * A value that the app passes to the tools and callbacks of one run: a database, the tenant, the signed-in user. Never stored,
 * never sent to the model. Declare its members once. Then `run({ runContext })` requires them and `context.runContext` has
 * them.
 *
 * @example
 * declare module 'toolwright' {
 *   interface RunContext {
 *     db: Database
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: applications declare the members
export interface RunContext {}

/** The option `runContext` of `run()`. Required if the app declares a required member of `RunContext`. */
// biome-ignore lint/complexity/noBannedTypes: asks whether RunContext requires anything
export type RunContextOption = {} extends RunContext
  ? {
      /** Passed to the tools and callbacks of this run. Never stored, never sent to the model. */
      readonly runContext?: RunContext | undefined
    }
  : {
      /** Passed to the tools and callbacks of this run. Never stored, never sent to the model. */
      readonly runContext: RunContext
    }

/** Returns the `runContext` of the run. Throws INVALID_REQUEST if there is none. */
export function requireRunContext({ runContext }: { readonly runContext: RunContext | undefined }): RunContext {
  if (runContext !== undefined) return runContext
  throw new ToolwrightError(
    'INVALID_REQUEST',
    'This run has no runContext. It is never stored: pass it to runner.run(), complete(), resume(), recover() and cancel().',
  )
}
