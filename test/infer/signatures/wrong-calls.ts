import fc from '../../../src/core/base/fast-check.test-kit.ts'
import { isRecord, type JsonObject } from '../../../src/core/base/json.ts'
import { hasTypeMarks } from '../../../src/core/schema/marked-strings.ts'
import type { InferredFunction } from '../../../src/engine/tool/functions/inferred-function.ts'
import { arbitraryOf } from './arbitrary.ts'
import { CONTEXT, callText, needsNotation } from './calls.ts'
import { mutationsOf } from './mutations.ts'
import type { Signature } from './read-table.ts'

/** Where a schema is stricter than TypeScript on purpose. */
const STRICTER: readonly [changes: RegExp, reason: string][] = [
  [/^tags\..* (too|outside|not a|below|above)/, 'tags say what a type cannot'],
  [/^(tags\.positionalAny|positional\.oneUnknown) .*without/, 'any and unknown include undefined'],
  [/^tags\.anyTags .*"byName": array/, 'an array of any is a record of any'],
  [/^objects\.emptyObject /, '{} accepts all values, and a function with it has no arguments'],
  [/^values\.openTypes "(some|empty)": /, 'object includes arrays, {} accepts all values'],
  [/^values\.records "byNumber": (string|array)/, 'texts and arrays have numbers as keys'],
]

/** Calls with values that the schema of a function refuses. The compiler has to find an error in each. */
export function wrongCalls({ key, inferred }: Signature): string[] {
  // dates, bytes, brands and enums are never valid TypeScript as plain JSON
  if (hasTypeMarks(inferred.parameters) || needsNotation(key)) return []
  const changes = new Map<string, unknown>()
  for (const value of fc.sample(arbitraryOf(inferred.parameters), { seed: 3, numRuns: 3 }))
    for (const { what, value: changed } of mutationsOf(inferred.parameters, value)) changes.set(what, changed)
  return [...changes].flatMap(([what, args]) => {
    const received = isRecord(args) ? receivedOf(inferred, args) : undefined
    const isStricter = STRICTER.some(([pattern]) => pattern.test(`${key} ${what}`))
    return received && !isStricter ? [`// @ts-expect-error ${JSON.stringify(what)}\n${callText(key, received)}`] : []
  })
}

/** The arguments in the order of the function. Undefined if positions cannot carry the change: unknown names, and the list of a rest. */
function receivedOf({ call, parameters }: InferredFunction, args: JsonObject): unknown[] | undefined {
  const isWhole = call.some((parameter) => 'allArguments' in parameter)
  const properties = isRecord(parameters.properties) ? parameters.properties : {}
  const isKnown = Object.keys(args).every((name) => Object.hasOwn(properties, name))
  const isRest = call.some((parameter) => 'argument' in parameter && parameter.rest)
  if (!isWhole && (!isKnown || isRest)) return undefined
  return call.map((parameter) => {
    if ('context' in parameter) return CONTEXT
    return 'allArguments' in parameter ? args : args[parameter.argument]
  })
}
