// PgBouncer in transaction mode in front of the test server.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/apps/cli/consent/free-port.test-kit.ts'

/** A pooler that listens. */
export interface PgBouncer {
  /** The URL of the server through it. */
  readonly url: string
  close(): Promise<void>
}

/** Is PgBouncer on this machine? */
export function hasPgBouncer(): boolean {
  return spawnSync('pgbouncer', ['--version'], { stdio: 'ignore' }).status === 0
}

/** Starts PgBouncer with `size` connections to the server with this URL. */
export async function startPgBouncer(serverUrl: string, size: number): Promise<PgBouncer> {
  const { hostname, port: serverPort, pathname } = new URL(serverUrl)
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-pgbouncer-'))
  const file = join(folder, 'pgbouncer.ini')
  const port = await freePort()
  const settings = [
    '[databases]',
    `* = host=${hostname} port=${serverPort} user=postgres`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${size}`,
    'max_client_conn = 500',
  ]
  writeFileSync(file, settings.join('\n'))
  chmodSync(folder, 0o755)
  // it refuses to run as root
  const user = process.getuid?.() === 0 ? ['--user', 'nobody'] : []
  const pooler = spawn('pgbouncer', ['--quiet', ...user, file], { stdio: ['ignore', 'ignore', 'pipe'] })
  await untilListening(pooler, port)
  return {
    url: `postgres://postgres@127.0.0.1:${port}${pathname}`,
    close: async () => {
      const exited = once(pooler, 'exit')
      pooler.kill('SIGKILL')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const START_MS = 10_000

async function untilListening(pooler: ChildProcess, port: number): Promise<void> {
  let log = ''
  pooler.stderr?.on('data', (text) => {
    log = `${log}${text}`.slice(-2_000)
  })
  const until = performance.now() + START_MS
  while (performance.now() < until && pooler.exitCode === null) {
    if (await canConnect(port)) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  pooler.kill('SIGKILL')
  throw new Error(`PgBouncer did not start: ${log}`)
}

async function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
