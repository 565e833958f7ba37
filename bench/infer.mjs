// What reading the types of plain functions costs: once, from the cache, and at call time. See README.md.
// usage: npm run bench:infer -- [--reps 9]
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installPacked, median, option } from './prepare.mjs'

const reps = option('reps', 9)
const folder = installPacked('infer', ['typescript', 'ts-json-schema-generator', 'zod', '@types/node'])
writeFileSync(
  join(folder, 'tsconfig.json'),
  '{ "compilerOptions": { "strict": true, "module": "nodenext", "target": "es2023", "allowImportingTsExtensions": true, "noEmit": true, "types": ["node"] } }',
)
writeFileSync(join(folder, 'tools.ts'), toolsFile(20))

/** A file with plain functions in a list of tools. Node can load it with and without the transform. */
function toolsFile(count) {
  const functions = Array.from(
    { length: count },
    (_, index) => `
interface Order${index} {
  /** The number of the order. */
  id: string
  items: { sku: string; count: number }[]
  due?: Date
  status: 'open' | 'paid' | 'sent'
}
/**
 * Changes order ${index}.
 * @param order The order
 * @param note A note for the customer
 */
async function changeOrder${index}(order: Order${index}, note = '', context: ToolContext) {
  return { id: order.id, note, call: context.functionCallId }
}`,
  )
  const names = Array.from({ length: count }, (_, index) => `changeOrder${index}`)
  return `import { type ToolContext, type ToolSource, tool } from 'toolwright'
${functions.join('\n')}
export const tools: ToolSource[] = [${names.join(', ')}]
export const isUsed = tool
`
}

function load(withHook) {
  const hook = withHook ? ['--import', 'toolwright/infer/register'] : []
  const start = performance.now()
  const child = spawnSync(process.execPath, [...hook, 'tools.ts'], { cwd: folder, encoding: 'utf8' })
  const ms = performance.now() - start
  if (child.status !== 0) throw new Error(child.stderr.slice(-800))
  return ms
}

const clear = () => rmSync(join(folder, 'node_modules', '.cache'), { recursive: true, force: true })
const samples = { cold: [], cached: [], plain: [] }
load(false)
for (let rep = 0; rep < reps; rep++) {
  clear()
  samples.cold.push(load(true))
  samples.cached.push(load(true))
  samples.plain.push(load(false))
}
const worker = spawnSync(process.execPath, ['infer-worker.mjs'], { cwd: folder, encoding: 'utf8' })
const line = worker.stdout.split('\n').find((text) => text.startsWith('RESULT '))
if (!line) throw new Error(`The worker failed: ${worker.stderr.slice(-500)}`)
const turn = JSON.parse(line.slice(7))

const [cold, cached, plain] = [median(samples.cold), median(samples.cached), median(samples.plain)]
const rows = [
  ['20 tools in one file, the whole process, ms', cold, { max: 3_000 }],
  ['the same file without the transform, ms', plain],
  ['from the cache, over the file without the transform, ms', cached - plain, { max: 40 }],
  ['S1, inferred over written JSON Schema', turn.inferred / turn.written, { max: 1.05 }],
  ['S1, inferred over written Zod schema', turn.inferred / turn.zod],
  ['S1, inferred with two parameters over written JSON Schema', turn.positional / turn.written, { max: 1.05 }],
]
let isOver = false
for (const [what, measured, { max = Infinity } = {}] of rows) {
  const isKept = measured <= max
  if (!isKept) isOver = true
  const limit = max < Infinity ? ` (at most ${max})` : ''
  console.log(`${isKept ? 'ok  ' : 'OVER'} ${what}: ${measured.toFixed(measured < 10 ? 2 : 0)}${limit}`)
}
process.exitCode = isOver ? 1 : 0
