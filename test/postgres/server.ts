// Real Postgres servers for tests.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { ServerCommand, ServerReply } from './server-messages.ts'

/** A running Postgres server. */
export interface PostgresServer extends AsyncDisposable {
  /** The URL of the database `postgres`, with a role that may do everything. */
  readonly url: string
  /** The folder with the programs and the data. It is removed when the server is closed. */
  readonly folder: string
  /** Stops, kills or starts the server. It keeps its port and its data. */
  send(command: ServerCommand): Promise<void>
  /** Stops the server and removes its data. */
  close(): Promise<void>
}

/**
 * Starts a server of its own. It stops with this process, also when the process is killed. `copyOf`: the folder of a server that has
 * stopped, or was killed; the new one begins with a copy of its data.
 */
export async function startServer(
  options: { readonly fsync?: boolean; readonly copyOf?: string } = {},
): Promise<PostgresServer> {
  const program = new URL('server-program.ts', import.meta.url)
  const args = [...(options.fsync ? ['--fsync'] : []), ...(options.copyOf ? [`--copy-of=${options.copyOf}`] : [])]
  const child = fork(program, args, {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const { url, folder } = await nextReply(child)
  if (url === undefined || folder === undefined) throw new Error('The Postgres server sent no URL.')
  const send = async (command: ServerCommand): Promise<void> => {
    const reply = nextReply(child)
    child.send(command)
    await reply
  }
  const close = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    if (child.connected) child.disconnect()
    await exited
  }
  return { url, folder, send, close, [Symbol.asyncDispose]: close }
}

async function nextReply(child: ChildProcess): Promise<ServerReply> {
  const waiting = new AbortController()
  const { signal } = waiting
  const exited = once(child, 'exit', { signal }).then(() => [
    { error: 'The process of the Postgres server has exited.' },
  ])
  exited.catch(() => {}) // aborted
  const [reply] = (await Promise.race([once(child, 'message', { signal }), exited])) as [ServerReply]
  waiting.abort()
  if (reply.error === undefined) return reply
  if (child.connected) child.disconnect()
  throw new Error(reply.error)
}
