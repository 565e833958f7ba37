// Shapes of stored JSON: checks of what this version has written, so that a damaged value is recognised before it is used.
import { isRecord } from './json.ts'

/** Does a value have this shape? */
export type Shape = (value: unknown) => boolean

/** A string. */
export const aString: Shape = (value) => typeof value === 'string'
/** A boolean. */
export const aBoolean: Shape = (value) => typeof value === 'boolean'
/** A finite number. */
export const aNumber: Shape = (value) => Number.isFinite(value)
/** A whole number from 0 on. */
export const aCount: Shape = (value) => Number.isSafeInteger(value) && Number(value) >= 0
/** An object with any members. */
export const aRecord: Shape = isRecord

/** The value may be missing. */
export function maybe(shape: Shape): Shape {
  return (value) => value === undefined || shape(value)
}

/** A list whose items have a shape. */
export function listOf(shape: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(shape)
}

/** A list of two items. */
export function pairOf(first: Shape, second: Shape): Shape {
  return (value) => Array.isArray(value) && value.length === 2 && first(value[0]) && second(value[1])
}

/** An object with these members, and perhaps others. */
export function withMembers(members: { readonly [name: string]: Shape }): Shape {
  const all = Object.entries(members)
  return (value) => isRecord(value) && all.every(([name, shape]) => shape(value[name]))
}

/** An object with these members and no others. */
export function exactly(members: { readonly [name: string]: Shape }): Shape {
  const hasMembers = withMembers(members)
  return (value) => hasMembers(value) && Object.keys(value as object).every((name) => Object.hasOwn(members, name))
}
