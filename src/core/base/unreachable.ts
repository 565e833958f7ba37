/** The default case of a switch over a union. A member without a case is a compile error. */
export function unreachable(value: never): never {
  throw new Error(`Unhandled case: ${JSON.stringify(value)}`)
}
