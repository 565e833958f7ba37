// Source maps for stack traces: the file and the line of every position, without sources, columns of the source and names.

interface SourceMap {
  readonly mappings: string
  readonly [key: string]: unknown
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** A map with one mapping for each stretch of code that comes from one line. It has a fifth of the size. */
export function toLineMap({ sourcesContent: _, mappings, ...map }: SourceMap): SourceMap {
  let [source, line, writtenSource, writtenLine] = [0, 0, 0, 0]
  const rows = mappings.split(';').map((row) => {
    let [column, writtenColumn] = [0, 0]
    let before: string | undefined
    const kept: string[] = []
    for (const segment of row === '' ? [] : row.split(',')) {
      const [toColumn = 0, toSource, toLine = 0] = numbersOf(segment)
      column += toColumn
      if (toSource === undefined) continue
      source += toSource
      line += toLine
      const place = `${source}:${line}`
      if (place === before) continue
      before = place
      kept.push([column - writtenColumn, source - writtenSource, line - writtenLine, 0].map(encode).join(''))
      writtenColumn = column
      writtenSource = source
      writtenLine = line
    }
    return kept.join(',')
  })
  return { ...map, names: [], mappings: rows.join(';') }
}

/** The numbers of a mapping: groups of five bits, lowest first, each with a sign in its lowest bit. */
function numbersOf(segment: string): number[] {
  const numbers: number[] = []
  let [value, shift] = [0, 0]
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit)
    value += (bits & 31) << shift
    shift += 5
    if (bits & 32) continue
    numbers.push(value & 1 ? -(value >>> 1) : value >>> 1)
    value = shift = 0
  }
  return numbers
}

function encode(number: number): string {
  let rest = number < 0 ? (-number << 1) | 1 : number << 1
  let text = ''
  do {
    const bits = rest & 31
    rest >>>= 5
    text += DIGITS[rest > 0 ? bits | 32 : bits]
  } while (rest > 0)
  return text
}
