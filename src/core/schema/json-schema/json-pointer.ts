/** One part of a JSON pointer in a URI, decoded to the key it stands for. Text that is not encoded is returned as it is. */
export function decodePointer(part: string): string {
  let text = part
  try {
    text = decodeURIComponent(part)
  } catch {}
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** A key, encoded as one part of a JSON pointer in a URI. */
export function encodePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('%', '%25')
}

/** The part of a value that a fragment such as `/$defs/address` points to; undefined when there is none. */
export function resolvePointer(value: unknown, fragment: string): unknown {
  let part = value
  for (const encoded of fragment.split('/').slice(1)) {
    const key = decodePointer(encoded)
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, key)) return undefined
    part = Reflect.get(part, key)
  }
  return part
}
