import { ToolwrightError } from '../error/error.ts'

/** The error for a function where a tool is expected. `where` is the plural subject of the message. */
export function bareFunctionError(fn: { readonly name: string }, where: string): ToolwrightError {
  const called = fn.name ? ` "${fn.name}"` : ''
  return new ToolwrightError(
    'NEEDS_INFER',
    `${where} hold the bare function${called}. Wrap it: tool({ name, description, parameters, run }). For a list of tools that depends on the context, use toolSource(fn).`,
  )
}
