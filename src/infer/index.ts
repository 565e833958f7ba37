// The entry point `toolwright/infer`: what generated code imports. It runs without Node and without a compiler.
export {
  attachInferred,
  type InferredFunction,
  type InferredParameter,
  type InferredShape,
} from '../tool/functions/inferred-function.ts'
