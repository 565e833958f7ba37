// A scenario of the fleet as a program, so that it can run in a network of its own. Prints its report as JSON.
import { type KillOptions, killWorkers } from './kill-workers.ts'

/** What to do, as the only argument in JSON. */
export type Scenario = { readonly type: 'kill workers' } & KillOptions

process.once('SIGTERM', () => process.exit(1)) // ends Restate, too
const scenario = JSON.parse(process.argv[2] ?? '') as Scenario
console.log(JSON.stringify(await killWorkers(scenario)))
process.exit()
