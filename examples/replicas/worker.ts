// A worker, as `toolwright worker examples/replicas/desk.ts` starts one: continues runs without a caller.
import runner from './desk.ts'

process.once('disconnect', () => process.exit()) // main.ts has ended
process.send?.({})
await runner.work({ signal: new AbortController().signal })
