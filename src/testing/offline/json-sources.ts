import type { JsonObject } from '../../base/json.ts'
import { dayOf } from './dates.ts'
import { declaredOf } from './declared.ts'
import { recognisedIn } from './fill.ts'
import { valueFrom } from './from-results.ts'
import type { Result } from './heard.ts'
import type { Sources } from './json-answer.ts'
import { passageOf } from './passage.ts'

/** Where the values of a structured answer come from: results, then the message. */
export function sourcesOf(
  schema: JsonObject,
  { results, message, text, now }: { results: readonly Result[]; message: string; text: string; now: number },
): Sources {
  const asTool = declaredOf({ name: 'answer', parametersJsonSchema: schema })
  const said = recognisedIn(asTool, passageOf(message, dayOf(now)), now)
  const found = new Map<string, unknown>()
  for (const parameter of asTool.parameters) {
    const value = valueFrom(parameter, results) ?? said.get(parameter)
    if (value !== undefined) found.set(keyOf(parameter.path), value)
  }
  const list = results.flatMap(({ response }) => Object.values(response)).find(Array.isArray)
  return { text, now, found: (path) => (path.length === 0 ? list : found.get(keyOf(path))) }
}

const keyOf = (path: readonly string[]): string => JSON.stringify(path)
