import { ToolwrightError } from '../../../core/error/error.ts'
import type { AnyFunction } from './tool-function.ts'

/** Set on the global object by the module hooks of `toolwright/infer`. */
const HOOKS: symbol = Symbol.for('toolwright.infer.hooks')

/** The error for a plain function whose types were not read. `where` is the plural subject of the message. */
export function needsInferError(fn: AnyFunction, where?: string): ToolwrightError {
  const called = fn.name ? `"${fn.name}"` : 'without a name'
  const subject = where === undefined ? `tool() got the function ${called}` : `${where} contain the function ${called}`
  const unnamed = `The function reaches this place in a way that its source does not show, such as a record, a variable, bind() or a computed list: write tool(fn) where the function is named.`
  const ways = `Its schema comes from its TypeScript types, which do not exist at run time. Do one of these:
- start the program with the command: npx toolwright run <file>
- start Node with the hook: node --import toolwright/infer/register <file>
- add the plugin of your bundler: toolwright/infer/vite, vitest, rollup, rolldown, tsdown, esbuild, webpack or rspack
- write the schemas to a file and import it: npx toolwright infer <file>
All four need TypeScript 5 or 6: npm install --save-dev typescript-5@npm:typescript@5`
  const advice = Object.hasOwn(globalThis, HOOKS)
    ? `toolwright/infer is active. ${unnamed}`
    : `${ways}\nIf one of them is active: ${unnamed}`
  return new ToolwrightError(
    'NEEDS_INFER',
    `${subject}, whose types were not read. ${callAdvice(fn)} ${advice}
Or write the schema yourself: tool({ name, description, parameters, run }). For tools that depend on the context, use toolSource(fn).`,
  )
}

/** Functions and classes that make tools are called. In a list, they look like plain functions. */
function callAdvice(fn: AnyFunction): string {
  const isClass = /^class\b/.test(Function.prototype.toString.call(fn))
  if (isClass) return `It is a class. If it makes tools, write ${fn.name ? `new ${fn.name}(...)` : 'new before it'}.`
  return `If it makes a tool or a toolset, call it${fn.name ? `: ${fn.name}(${fn.length > 0 ? '...' : ''})` : ''}.`
}
