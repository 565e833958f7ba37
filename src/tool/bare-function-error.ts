import { ToolwrightError } from '../error/error.ts'

/** For a function where a tool is expected: it is never called to find out what it is. */
export function bareFunctionError(fn: { readonly name: string }, where: string): ToolwrightError {
  const called = fn.name ? ` "${fn.name}"` : ''
  return new ToolwrightError(
    'NEEDS_INFER',
    `${where} hold the bare function${called}. Wrap it: tool({ name, description, parameters, run }). For a list of tools that depends on the context, use toolSource(fn).`,
  )
}
