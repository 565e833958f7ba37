// Restate in a network of its own, for tests outside of it. Unix sockets in a folder lead through its border.
import { join } from 'node:path'
import { forward } from './forward.ts'
import { startRestate } from './restate-server.ts'

/** Addresses for workers, as Restate sees them: what connects to one comes out at the socket of its place in this list. */
export type WorkerAddresses = readonly string[]

/** More addresses than the tests of a run need. */
const ADDRESSES = 200

/** A worker that is stopped is noticed after these times together, and a busy one must answer in time. Restate allows a minute. */
const settings = {
  RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_INTERVAL: '1s',
  RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_TIMEOUT: '10s',
  RESTATE_INGRESS__REQUEST_SIZE_LIMIT: '1MiB',
}

const folder = process.argv[2] ?? ''
const server = await startRestate(join(folder, 'restate'), settings)
process.once('disconnect', () => void server.close().then(() => process.exit()))
const toPort = (url: string) => () => ({ host: '127.0.0.1', port: Number(new URL(url).port) })
await forward({ path: join(folder, 'ingress') }, toPort(server.ingress))
await forward({ path: join(folder, 'admin') }, toPort(server.admin))
const addresses: string[] = []
for (let at = 0; at < ADDRESSES; at++) {
  const { port } = await forward({ host: '127.0.0.1', port: 0 }, () => ({ path: join(folder, `workers-${at}`) }))
  addresses.push(`http://127.0.0.1:${port}`)
}
process.send?.(addresses satisfies WorkerAddresses)
