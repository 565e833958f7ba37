// ADK's names, in snake case or in camel case.
import type { JsonObject } from '../../../core/base/json.ts'

/** A member whose name is in snake case or in camel case. */
export function member(given: JsonObject, name: string): unknown {
  const camel = toCamel(name)
  return Object.hasOwn(given, name) ? given[name] : Object.hasOwn(given, camel) ? given[camel] : undefined
}

/** A name in camel case. */
export function toCamel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
