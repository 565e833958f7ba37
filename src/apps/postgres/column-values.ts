// What the text of a column means. `pg` would do it too, but with parsers that an application can change for all its pools.

const BYTEA = 17
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701, 1700]) // int8, int2, int4, oid, float4, float8, numeric

/** The value of a column: a number, bytes, or the text as it is. */
export function columnValue(text: string | null | undefined, type: number): string | number | Uint8Array | null {
  if (text === null || text === undefined) return null
  if (NUMBERS.has(type)) return Number(text)
  if (type === BYTEA) return Uint8Array.from(Buffer.from(text.slice(2), 'hex')) // \x0a1b
  return text
}

/** The value of a parameter as the driver sends it. Bytes are not copied. */
export function parameterValue(value: string | number | Uint8Array | null): string | Buffer | null {
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}
