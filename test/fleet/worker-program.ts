// A worker of the fleet, as a process of its own. It runs all apps.
import { postgres } from 'toolwright/postgres'
import { restate, startRestateWorker } from 'toolwright/restate'
import { LedgerClient } from '../crash/ledger/ledger-client.ts'
import { schemaOf, withoutSchema } from '../crash/open-store.ts'
import { fleetShapes, openFleetDesk } from './fleet-desk.ts'
import { watchDeeds } from './watch-deeds.ts'

/** What a worker is started with, as its only argument in JSON. */
export interface WorkerOptions {
  /** The URL of the database, with the parameter `schema`. */
  readonly store: string
  readonly ingress: string
  readonly admin: string
  /** Where Restate reaches the workers. */
  readonly url: string
  readonly secret: string
  /** The socket of the ledger. */
  readonly ledger: string
  readonly leaseMs: number
  readonly bodyMs: number
  /** How far the clock of the worker is ahead, in milliseconds. */
  readonly aheadMs: number
  readonly maxCrashes: number
}

const options = JSON.parse(process.argv[2] ?? '') as WorkerOptions
const { ingress, admin, url, secret, leaseMs, bodyMs, aheadMs, maxCrashes } = options
const now = (): number => Date.now() + aheadMs
const services = postgres(withoutSchema(options.store), { schema: schemaOf(options.store), leaseMs })
const ledger = await LedgerClient.connect(options.ledger)
const engine = restate({ ingress, secret, now })
const logger = { warn: () => {}, error: (message: string) => void process.send?.({ error: message }) }
const sessionService = watchDeeds(services.sessionService, (deed) => void process.send?.({ deed }))
const runners = fleetShapes.map((shape) =>
  openFleetDesk({ shape, ledger, bodyMs, engine, logger, ports: { now }, ...services, sessionService }),
)
const worker = await startRestateWorker({ runners, ingress, admin, url, secret, port: 0, now, logger, maxCrashes })
process.on('message', (message) => {
  if (message === 'stop') void worker.close({ graceMs: 2_000 }).then(() => process.exit(0))
})
process.once('disconnect', () => process.exit(1))
process.send?.({ port: worker.port })
