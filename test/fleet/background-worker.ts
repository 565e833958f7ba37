// A worker of the app with background tools, as a process of its own.
import { postgres } from 'toolwright/postgres'
import { restate, startRestateWorker } from 'toolwright/restate'
import { openDesk } from './background-desk.ts'

/** What a worker is started with, as its only argument in JSON. */
export interface BackgroundWorkerOptions {
  readonly store: string
  readonly ingress: string
  readonly admin: string
  /** Where Restate reaches the workers. */
  readonly url: string
  readonly secret: string
  readonly folder: string
}

const options = JSON.parse(process.argv[2] ?? '') as BackgroundWorkerOptions
const { store, ingress, admin, url, secret, folder } = options
const logger = { warn: () => {}, error: () => {} }
const services = postgres(store, { schema: 'fleet' })
const runner = openDesk(folder, { engine: restate({ ingress, secret }), logger, ...services })
const worker = await startRestateWorker({ runners: [runner], ingress, admin, url, secret, port: 0, logger })
process.on('message', (message) => {
  if (message === 'stop') void worker.close({ graceMs: 200 }).then(() => process.exit(0))
})
process.once('disconnect', () => process.exit(1))
process.send?.({ port: worker.port })
