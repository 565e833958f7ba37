/**
 * A plain function as a tool. `toolwright/infer` generates its schema from its types and doc comment. The parameters are `never`, so
 * that functions with any parameters fit.
 */
export interface ToolFunction {
  // biome-ignore lint/style/useShorthandFunctionType: the transform finds the interface by its name
  (...args: never[]): unknown
}
