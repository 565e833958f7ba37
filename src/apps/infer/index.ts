/**
 * Plain functions as tools: what generated code imports. It runs without Node and without a compiler.
 *
 * @module
 */
export {
  attachInferred,
  type InferredFunction,
  type InferredParameter,
  type InferredShape,
} from '../../engine/tool/functions/inferred-function.ts'
