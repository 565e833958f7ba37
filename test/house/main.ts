// Prints the figures of our source: npm run house -- [--list] [path prefix]. `--list` names what to change.
import { parseArgs } from 'node:util'
import { publishedSources } from '../source.ts'
import { figures, walkFigures } from './figures.ts'

const { values, positionals } = parseArgs({ options: { list: { type: 'boolean' } }, allowPositionals: true })
const [prefix] = positionals
const rows = [...figures(publishedSources(), prefix), ...(prefix === undefined ? walkFigures() : [])]

const row = (name: string, target: string, now: string, note: string): string =>
  `${name.padEnd(38)}${target.padEnd(10)}${now.padEnd(24)}${note}`.trimEnd()

console.log(row('figure', 'target', 'now', ''))
for (const { name, target, now, isReached } of rows) console.log(row(name, target, now, isReached ? '' : 'to do'))

if (values.list) {
  for (const { name, offenders } of rows.filter((figure) => figure.offenders.length > 0)) {
    console.log(`\n${name}`)
    for (const { file, line, name, value } of offenders)
      console.log(`  ${file}:${line} ${name}${value > 1 ? ` ${value}` : ''}`)
  }
}
