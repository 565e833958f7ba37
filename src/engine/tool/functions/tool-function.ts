/**
 * A plain function as a tool. `toolwright/infer` generates its schema from its types and doc comment. The parameters are `never`, so
 * that functions with any parameters fit.
 */
export interface ToolFunction {
  // biome-ignore lint/style/useShorthandFunctionType: the transform finds the interface by its name
  (...args: never[]): FunctionResult
}

/**
 * What a plain function in a list of tools returns: anything but a tool or a toolset. Call a function that makes those, as in
 * `tools: [googleSearch()]`. A function that returns `unknown` might make one: write its type, or pass it as `tool(fn)`.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function may return nothing
type FunctionResult = NoTool | string | number | boolean | bigint | symbol | null | undefined | void

/** Any object that is neither a tool nor a toolset. `object` lets objects fit that have none of these properties. */
type NoTool = object & { readonly declaration?: NoFunction; readonly listTools?: NoFunction }

type NoFunction = (object & { readonly bind?: never }) | string | number | boolean | bigint | null | undefined

/** A function with any parameters and any result. */
export type AnyFunction = (...args: never[]) => unknown

/** `never` for a function that makes a tool or a toolset: call it instead of passing it to `tool()`. */
export type NoToolFactory<F extends AnyFunction> =
  ReturnType<F> extends { readonly declaration: AnyFunction } | { readonly listTools: AnyFunction }
    ? [unknown] extends [ReturnType<F>] // any
      ? unknown
      : never
    : unknown
