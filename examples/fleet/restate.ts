// The Restate server of this machine: the program of the package @restatedev/restate-server, with its data in a folder.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'

/** A running server. */
export interface RestateServer {
  /** The address of its ingress, which takes calls. */
  readonly ingress: string
  /** The address of its admin API, which registers workers. */
  readonly admin: string
  /** Stops it. */
  close(): Promise<void>
}

/** Starts a server. It may take a minute on a slow machine. */
export async function startRestate(folder: string): Promise<RestateServer> {
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()]
  const env = {
    ...process.env,
    DO_NOT_TRACK: '1',
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_ADVERTISED_HOST: '127.0.0.1',
    RUST_LOG: 'error',
    TMPDIR: folder, // it leaves temporary folders when it is killed
  }
  const server = spawn(program(), ['--no-logo', '--base-dir', folder], { env, stdio: 'ignore' })
  const stop = (): void => void server.kill('SIGKILL')
  process.once('exit', stop)
  await untilHealthy(`http://127.0.0.1:${admin}/health`)
  return {
    ingress: `http://127.0.0.1:${ingress}`,
    admin: `http://127.0.0.1:${admin}`,
    close: async () => {
      process.off('exit', stop)
      const exited = once(server, 'exit')
      stop()
      await exited
    },
  }
}

/** The program for this platform. */
function program(): string {
  const fromServer = createRequire(createRequire(import.meta.url).resolve('@restatedev/restate-server/package.json'))
  const manifest = fromServer.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/package.json`)
  return join(manifest, '../bin/restate-server')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

async function untilHealthy(url: string): Promise<void> {
  for (let tries = 0; tries < 1_200; tries++) {
    const isHealthy = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isHealthy) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('Restate did not start.')
}
