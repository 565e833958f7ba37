// A worker on a SQLite file. Its clock runs faster, so that claims of ticks end, and ticks come, within a test.
import { sqlite } from 'toolwright/sqlite'
import { silentLogger } from './kit.ts'
import { fastClock, reportRunner, type WorkerChild } from './worker-kit.ts'

const { file, ledger, startedAt } = JSON.parse(process.argv[2] ?? '{}') as WorkerChild
const services = sqlite(file, { leaseMs: 1_000, logger: silentLogger })
const runner = reportRunner(services, ledger, fastClock(startedAt))
const stop = new AbortController()
process.once('disconnect', () => process.exit())
process.once('message', () => stop.abort())
process.send?.('works')
await runner.work({ signal: stop.signal, pollMs: 20, concurrency: 5 })
services.close()
process.disconnect()
