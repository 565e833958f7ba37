// A worker and a schedule. Stop it with Ctrl+C, kill it with `kill -9`, start two of them: each tick still starts one run.
//
//     npx node examples/background/worker.ts
import { Runner } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import agent from './agent.ts'

const report = {
  name: 'report',
  afterRun: ({ context }: { context: { invocation: { session: { id: string } } } }) =>
    console.log(`Ran session ${context.invocation.session.id}`),
}
const runner = new Runner({ appName: 'orders', agent, plugins: [report], ...sqlite('orders.db') })

// the same id each time: a second process keeps the schedule
await runner.schedule({ id: 'count', userId: 'ada', message: 'Count the orders.', every: 2_000 })

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
console.log('Working. Press Ctrl+C to stop.')
await runner.work({ signal: stop.signal })
await runner.close()
