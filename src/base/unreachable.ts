/** The end of a switch over a union: a new member that nobody handles is a compile error here. */
export function unreachable(value: never): never {
  throw new Error(`Unhandled case: ${JSON.stringify(value)}`)
}
