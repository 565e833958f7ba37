// A worker, as `toolwright worker examples/fleet/desk.ts --restate <url>` starts one: Restate calls it for sessions with work.
import { startRestateWorker } from 'toolwright/restate'
import runner from './desk.ts'

const { RESTATE_URL = '', RESTATE_ADMIN_URL = '', WORKERS_URL = '', TOOLWRIGHT_FLEET_SECRET = '' } = process.env

const worker = await startRestateWorker({
  runners: [runner],
  ingress: RESTATE_URL,
  admin: RESTATE_ADMIN_URL,
  url: WORKERS_URL, // the balancer in front of all workers
  port: 0,
  secret: TOOLWRIGHT_FLEET_SECRET,
})
process.once('disconnect', () => process.exit()) // local.ts has ended
process.once('SIGTERM', () => void worker.close().then(() => process.exit()))
process.send?.({ port: worker.port })
