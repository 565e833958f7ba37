import { escapeText } from '../../../core/base/escape.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import { loadPeerByName } from '../../../core/error/load-peer.ts'
import type { Logger } from '../../../engine/dispatch/host.ts'
import type { RestateWorker } from '../../restate/start-worker.ts'
import { withProgress } from '../screen/progress.ts'
import { listenOnFreePort } from '../serve/listen-on-free-port.ts'
import type { OpenedApp } from '../serve/open-apps.ts'
import type { Terminal } from '../terminal.ts'
import type { RestateArguments } from './restate-arguments.ts'

/** What the worker runs, and how. */
interface RestateWork {
  /** The apps. */
  readonly apps: readonly OpenedApp[]
  /** `--concurrency`. */
  readonly concurrency: number | undefined
  /** `--label`. */
  readonly label: string | undefined
  /** Receives errors. */
  readonly logger: Logger
}

/** Lets Restate call this process for the sessions of the apps until the stop is requested, then hands over what does not end. */
export async function runOnRestate(
  given: RestateArguments,
  { apps, ...options }: RestateWork,
  requested: Promise<void>,
  terminal: Terminal,
): Promise<void> {
  const worker = await listen(given, { apps, ...options })
  try {
    terminal.output.write(`Restate calls this worker at ${escapeText(worker.url)}. Press Ctrl+C to stop.\n`)
    const isStopped = await withProgress(terminal, `Registering at ${given.admin}`, () =>
      Promise.race([requested.then(() => true), registered(worker)]),
    )
    if (!isStopped) terminal.output.write(`Registered at ${escapeText(given.admin)}.\n`)
    await requested
  } finally {
    await withProgress(terminal, 'Waiting for running turns. Press Ctrl+C to stop now', () => worker.close())
  }
}

async function listen(
  { host, port, ...places }: RestateArguments,
  { apps, ...options }: RestateWork,
): Promise<RestateWorker> {
  const { startRestateWorker, restate } = (await loadPeerByName(
    'toolwright/restate',
  )) as typeof import('../../restate/index.ts')
  const runners = apps.map(({ runner }) => runner)
  const engine = restate(places)
  for (const runner of runners) runner.internals.useEngine(engine) // for what tools submit
  let started: RestateWorker | undefined
  const server: Parameters<typeof listenOnFreePort>[0] = {
    listen: async (place) => {
      started = await startRestateWorker({ ...places, ...options, ...place, runners })
      return { url: started.url, port: started.port }
    },
  }
  await listenOnFreePort(server, { host, port, triesNext: false })
  return started as RestateWorker // listen() has set it
}

async function registered(worker: RestateWorker): Promise<false> {
  try {
    await worker.ready()
    return false
  } catch (error) {
    if (!(error instanceof ToolwrightError) || error.code !== 'UNAVAILABLE') throw error
    const advice = 'Pass the admin API of Restate with --restate-admin, and an address that Restate reaches with --url'
    throw new ToolwrightError('UNAVAILABLE', `${messageOf(error)}. ${advice}.`, { cause: error })
  }
}
