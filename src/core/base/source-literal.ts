import { isRecord } from './json.ts'

/** A value as source text. JSON text is valid source, but for the key \`__proto__\`, which would set a prototype. */
export function literal(value: unknown): string {
  if (hasPrototypeKey(value)) return `JSON.parse(${literal(JSON.stringify(value))})`
  const json = JSON.stringify(value, null, 2)
  const text = typeof value === 'string' ? quoted(json) : json.replaceAll('\n', '\n  ')
  return text.replace(HIDDEN, escaped)
}

/** Characters that a reviewer of the file cannot see. JSON text contains them only inside strings. */
const HIDDEN = /[\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

function quoted(json: string): string {
  return json.includes("'") || json.includes('\\') ? json : `'${json.slice(1, -1)}'`
}

function hasPrototypeKey(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasPrototypeKey)
  if (!isRecord(value)) return false
  return Object.entries(value).some(([key, child]) => key === '__proto__' || hasPrototypeKey(child))
}
