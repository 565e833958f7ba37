// The real server of Restate, in a folder of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { freePort } from '../../src/apps/cli/consent/free-port.test-kit.ts'

/** A running server. */
export interface RestateServer {
  /** The address of its ingress. */
  readonly ingress: string
  /** The address of its admin API. */
  readonly admin: string
  /** Kills the server with SIGKILL and starts it again, with its data. */
  killAndStart(): Promise<void>
  /** Kills the server. */
  close(): Promise<void>
}

/** Starts a server whose data is in a folder. */
export async function startRestate(folder: string, settings: NodeJS.ProcessEnv = {}): Promise<RestateServer> {
  const [ingressPort, adminPort, nodePort] = [await freePort(), await freePort(), await freePort()]
  const env = {
    ...process.env,
    DO_NOT_TRACK: '1',
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_ADDRESS: `127.0.0.1:${nodePort}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingressPort}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${adminPort}`,
    RESTATE_ADVERTISED_HOST: '127.0.0.1',
    RUST_LOG: 'warn',
    ...settings,
  }
  const admin = `http://127.0.0.1:${adminPort}`
  let server: ChildProcess
  const start = async (): Promise<void> => {
    server = spawn(binary(), ['--no-logo', '--base-dir', folder], { env, stdio: ['ignore', 'ignore', 'ignore'] })
    await untilHealthy(admin)
  }
  process.once('exit', () => server.kill('SIGKILL'))
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill('SIGKILL')
    await exited
  }
  await start()
  return {
    ingress: `http://127.0.0.1:${ingressPort}`,
    admin,
    killAndStart: async () => {
      await kill()
      await start()
    },
    close: kill,
  }
}

/** The program of this platform. Its wrapper would only start it. */
function binary(): string {
  const ofServer = createRequire(createRequire(import.meta.url).resolve('@restatedev/restate-server/package.json'))
  const manifest = ofServer.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/package.json`)
  return join(manifest, '../bin/restate-server')
}

const START_MS = 60_000

async function untilHealthy(admin: string): Promise<void> {
  const until = Date.now() + START_MS
  while (Date.now() < until) {
    const isHealthy = await fetch(`${admin}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isHealthy) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('Restate did not start.')
}
