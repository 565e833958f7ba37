import { ToolwrightError } from '../error/error.ts'

/**
 * What your app hands to the tools and callbacks of one run: a database, the tenant, the signed-in user. It is never stored
 * and never shown to the model. Declare its members once; then `run({ runContext })` requires them and
 * `context.runContext` has them.
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

/** Required as soon as `RunContext` has a required member. */
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

/** The value of the run, or an error that says where to pass it. */
export function requireRunContext({ runContext }: { readonly runContext: RunContext | undefined }): RunContext {
  if (runContext !== undefined) return runContext
  throw new ToolwrightError(
    'INVALID_REQUEST',
    'This run has no runContext, because it is never stored: pass it to runner.run(), complete(), resume(), recover() and cancel().',
  )
}
