/** Describes the kind of a value, for messages. Shows keys but no texts, which may be secrets. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  switch (typeof value) {
    case 'undefined':
    case 'number':
    case 'boolean':
      return String(value)
    case 'function':
      return 'a function'
    case 'object':
      return kindOfObject(value)
    default:
      return `a ${typeof value}`
  }
}

const MAX_KEYS = 8

function kindOfObject(value: object): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof (value as { then?: unknown }).then === 'function') return 'a promise'
  const keys = Object.keys(value)
  if (keys.length === 0) return 'an object without keys'
  const shown = keys.slice(0, MAX_KEYS).map((key) => key.slice(0, 40))
  return `an object with ${keys.length === 1 ? 'the key' : 'the keys'} ${shown.join(', ')}${keys.length > MAX_KEYS ? ', ...' : ''}`
}
