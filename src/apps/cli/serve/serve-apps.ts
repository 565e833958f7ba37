// What `toolwright web` and `toolwright serve` share: open the apps, listen, and stop in order.

import { escapeText } from '../../../core/base/escape.ts'
import { loadPeerByName } from '../../../core/error/load-peer.ts'
import type { Logger } from '../../../engine/dispatch/host.ts'
import type { ToolwrightServer } from '../../server/create-server.ts'
import type { ServerOptions } from '../../server/server-options.ts'
import { listenForStop } from '../input/listen-for-stop.ts'
import { loadEnvFile } from '../load/env-file.ts'
import { usableModels } from '../models.ts'
import { withProgress } from '../screen/progress.ts'
import type { Terminal } from '../terminal.ts'
import { terminalLogger } from '../terminal-logger.ts'
import { listenOnFreePort } from './listen-on-free-port.ts'
import { closeApps, type OpenedApp, openApps, serverOptionsOf } from './open-apps.ts'
import { checkRemoteAccess } from './remote-access.ts'
import { requirePeers, SERVER_PEERS } from './required-peers.ts'
import type { ServeArguments } from './serve-arguments.ts'
import { useRestate } from './use-restate.ts'
import type { WatchLink } from './watch/watch-link.ts'

const DEFAULT_PORT = 8000

/** How a command serves its apps. */
interface ServeSettings extends Pick<ServerOptions, 'dev' | 'onDisconnect' | 'page'> {
  /** The arguments. */
  readonly given: ServeArguments
  /** Tries other ports if the default one is in use. */
  readonly triesNextPort: boolean
  /** The process that watches the files and starts the next server. */
  readonly watcher?: WatchLink | undefined
  /** The ingress of Restate, whose workers continue what is submitted and answered. */
  readonly restate?: string | undefined
  /** Reports that the server listens. */
  onListening(started: StartedServer): void
}

/** A server that listens. */
export interface StartedServer {
  /** The address, without a slash at the end. */
  readonly url: string
  /** How requests authenticate. */
  readonly access: ServerAccess
  /** The apps. */
  readonly apps: readonly OpenedApp[]
}

/** How requests authenticate: with a token that the server made, with `TOOLWRIGHT_TOKEN`, or as an agent file decides. */
type ServerAccess =
  | { readonly type: 'new-token' | 'configured-token'; readonly token: string }
  | { readonly type: 'authenticate' }

/** Serves apps until SIGINT or SIGTERM. A second signal ends the process at once. */
export async function serveApps(terminal: Terminal, settings: ServeSettings): Promise<number> {
  const { given, watcher } = settings
  loadEnvFile(terminal.folder, terminal.env)
  requirePeers('The server', SERVER_PEERS)
  const logger = terminalLogger(terminal, { showsStacks: given.verbose })
  const moreModels = settings.dev ? usableModels() : undefined // the workbench tries other models
  const apps = await withProgress(terminal, `Loading ${given.paths.join(', ')}`, () =>
    openApps({ ...given, folder: terminal.folder, logger, onFile: watcher?.onFile, moreModels }),
  )
  if (settings.restate !== undefined) await useRestate(apps, settings.restate, terminal)
  watcher?.report({ type: 'loaded' })
  // a signal before this line ends the process at once: no request is running
  const stop = listenForStop(terminal)
  const ended = Promise.race([stop.requested, ...(watcher ? [watcher.ended] : [])])
  let server: ToolwrightServer | undefined
  let isRestart = false
  try {
    const created = await createServerOf(apps, settings, { logger, token: terminal.env.TOOLWRIGHT_TOKEN || undefined })
    server = created.server
    const { host } = given
    const known = watcher?.port ?? given.port
    const triesNext = settings.triesNextPort && known === undefined
    const { url, port } = await listenOnFreePort(server, { host, port: known ?? DEFAULT_PORT, triesNext })
    watcher?.report({ type: 'listening', port })
    settings.onListening({ url, access: created.access, apps })
    await Promise.race([recoverApps(server, terminal), ended]) // a store that hangs does not keep the process
    isRestart = (await ended) === 'restart'
    return 0
  } finally {
    // the next server resumes the running turns, so that none has to end here
    if (isRestart) await Promise.all(apps.map(({ runner }) => runner.close({ graceMs: 0, interrupt: true })))
    await withProgress(terminal, 'Waiting for running turns. Press Ctrl+C to stop now', async () => {
      await server?.close() // closes the runners too, within a deadline
      await closeApps(apps, { hasServer: server !== undefined })
    })
    stop.close()
    if (isRestart) terminal.exit() // timers of the agent file do not keep the next server waiting
  }
}

async function createServerOf(
  apps: readonly OpenedApp[],
  { given, dev, onDisconnect, page, watcher }: ServeSettings,
  { logger, token }: { readonly logger: Logger; readonly token: string | undefined },
): Promise<{ server: ToolwrightServer; access: ServerAccess }> {
  const { host, allowedHosts, allowedOrigins, limits, metrics } = given
  const options = serverOptionsOf(apps)
  checkRemoteAccess(host, { token, hasAuthenticate: options.authenticate !== undefined })
  // by name: no bundler or import check finds the packages of the server behind the command line
  const { createServer } = (await loadPeerByName('toolwright/server')) as typeof import('../../server/index.ts')
  const server = createServer({
    ...options,
    allowedHosts,
    allowedOrigins,
    limits,
    metrics,
    token: options.authenticate ? undefined : (token ?? watcher?.token), // a server has one of them
    dev,
    onDisconnect,
    page,
    logger,
  })
  if (server.token === undefined) return { server, access: { type: 'authenticate' } }
  return { server, access: { type: token === undefined ? 'new-token' : 'configured-token', token: server.token } }
}

/** Continues the runs that an earlier process left. The server reports a store that fails. */
async function recoverApps(server: ToolwrightServer, { output }: Terminal): Promise<void> {
  for (const [name, runs] of await server.recover())
    if (runs > 0) output.write(`Resumed     interrupted sessions of ${escapeText(name)}: ${runs}\n`)
}
