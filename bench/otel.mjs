// What traces cost. See README.md.
// usage: npm run bench:otel -- [--reps 5]
import { spawnSync } from 'node:child_process'
import { installPacked, median, option } from './prepare.mjs'

/** The most microseconds that `otel()` adds to a turn without an SDK. */
const MAX_WITHOUT_SDK_US = 3
/** The most that a traced turn costs, as a ratio to the same turn with its four spans made by hand. */
const MAX_OVER_HAND = 1.3

const reps = option('reps', 5)
const names = ['api', 'context-async-hooks', 'sdk-trace']
const folder = installPacked(
  'otel',
  names.map((name) => `@opentelemetry/${name}`),
)

const samples = Array.from({ length: reps }, () => {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['otel-worker.mjs'], { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr.slice(-800))
  return JSON.parse(/^RESULT (.*)$/m.exec(stdout)[1])
})
const added = median(samples.map(({ withoutObserver, withoutSdk }) => withoutSdk - withoutObserver))
const overHand = median(samples.map(({ hand, sdk }) => sdk / hand))
const rows = [
  ['S1 without observers', `${median(samples.map((one) => one.withoutObserver)).toFixed(1)} us`, true],
  ['otel() without SDK adds', `${added.toFixed(1)} us (limit ${MAX_WITHOUT_SDK_US})`, added <= MAX_WITHOUT_SDK_US],
  ['otel() with SDK, over spans by hand', `${overHand.toFixed(2)} (limit ${MAX_OVER_HAND})`, overHand <= MAX_OVER_HAND],
]
for (const [name, value, isKept] of rows) console.log(`${isKept ? 'ok  ' : 'OVER'} ${name}: ${value}`)
process.exitCode = rows.every(([, , isKept]) => isKept) ? 0 : 1
