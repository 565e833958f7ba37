/** The size of a state key with its value: the characters of both as JSON. All stores and limits count this way. */
export function sizeOfState(key: string, value: unknown): number {
  return countCharacters(JSON.stringify(key)) - 2 + countCharacters(JSON.stringify(value) ?? '')
}

/** A character above U+FFFF counts once, as databases count it. JSON text has no half of one. */
function countCharacters(json: string): number {
  return json.length - (json.match(/[\ud800-\udbff]/g)?.length ?? 0)
}
