import { ToolwrightError } from '../../core/error/error.ts'

/**
 * A value that the app passes to the tools and callbacks of one run: a database, the tenant, the signed-in user. Never
 * stored, never sent to the model. Declare its members once, as in the example. TypeScript then requires them in `run({
 * runContext })` and knows their types in `context.runContext`.
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
// biome-ignore lint/complexity/noBannedTypes: checks whether RunContext has a required member
export type RunContextOption = {} extends RunContext
  ? {
      /** Passed to the tools and callbacks of this run. Never stored, never sent to the model. */
      readonly runContext?: RunContext | undefined
    }
  : {
      /** Passed to the tools and callbacks of this run. Never stored, never sent to the model. */
      readonly runContext: RunContext
    }

/** Returns the `runContext` of the run. Throws INVALID_REQUEST if the caller passed none. */
export function requireRunContext({ runContext }: { readonly runContext: RunContext | undefined }): RunContext {
  if (runContext !== undefined) return runContext
  throw new ToolwrightError(
    'INVALID_REQUEST',
    'This run has no runContext, because the caller passed none. A runContext is never stored: pass it to runner.run(), complete(), resume(), recover() and cancel().',
  )
}
