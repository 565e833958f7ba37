/** JSON as an expression on one line. As a plain key of an object literal, `__proto__` would set the prototype. */
export function literal(value: unknown): string {
  return JSON.stringify(value).replace(/(?<!\\)"__proto__":/g, '["__proto__"]:')
}

const LINE_LENGTH = 110

/** JSON as an expression for a person to read: what fits into a line is one line, and keys have no quotes. */
export function readableLiteral(value: unknown, indent = ''): string {
  const line = onOneLine(value)
  if (typeof value !== 'object' || value === null || indent.length + line.length < LINE_LENGTH) return line
  const inner = `${indent}  `
  const lines = Array.isArray(value)
    ? value.map((item) => readableLiteral(item, inner))
    : Object.entries(value).map(([key, item]) => `${keyText(key)}: ${readableLiteral(item, inner)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return `${open}\n${lines.map((text) => `${inner}${text},\n`).join('')}${indent}${close}`
}

function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const properties = Object.entries(value).map(([key, item]) => `${keyText(key)}: ${onOneLine(item)}`)
  return properties.length === 0 ? '{}' : `{ ${properties.join(', ')} }`
}

function keyText(key: string): string {
  if (key === '__proto__') return '["__proto__"]'
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key)
}
