// The entry point `toolwright/infer/register`: node --import toolwright/infer/register app.ts
import { installInferHooks } from './node-hooks.ts'

installInferHooks({ requireCompiler: true })
