// A fleet on this machine: Restate, Postgres, a balancer, workers, and the ledger of the world outside.
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Runner } from 'toolwright'
import { postgres } from 'toolwright/postgres'
import { type RestateEngine, restate } from 'toolwright/restate'
import { buildProgram } from '../crash/build-program.ts'
import { type Ledger, startLedger } from '../crash/ledger/ledger.ts'
import { LedgerClient } from '../crash/ledger/ledger-client.ts'
import { type PostgresServer, startServer } from '../postgres/server.ts'
import { type Balancer, startBalancer } from './balancer.ts'
import { type FleetShape, fleetShapes, openFleetDesk } from './fleet-desk.ts'
import { type RestateServer, startRestate } from './restate-server.ts'
import type { SessionDeed } from './watch-deeds.ts'
import type { WorkerOptions } from './worker-program.ts'

/** A worker in a process of its own. */
export interface FleetWorker {
  /** The number of the worker, from 1. */
  readonly id: number
  readonly process: ChildProcess
  readonly port: number
  /** Kills it with SIGKILL. */
  kill(): Promise<void>
  /** Stops it as a deploy does. */
  stop(): Promise<void>
}

/** What the workers of a fleet have in common. */
export interface FleetOptions extends Partial<Pick<WorkerOptions, 'leaseMs' | 'bodyMs' | 'maxCrashes'>> {
  /** Called when a worker has claimed a session, has appended to it, or has released it. */
  readonly onDeed?: ((worker: number, deed: SessionDeed) => void) | undefined
}

/** All parts of a fleet. */
export interface FleetWorld {
  readonly restate: RestateServer
  readonly postgres: PostgresServer
  readonly balancer: Balancer
  readonly ledger: Ledger
  /** Writes down what callers send. */
  readonly notes: LedgerClient
  /** The URL of the database, with the parameter `schema`. */
  readonly store: string
  readonly engine: RestateEngine
  readonly secret: string
  /** The runners of a web server: they store messages and answers, and run nothing. */
  readonly web: ReadonlyMap<FleetShape, Runner>
  /** What workers have reported. */
  readonly errors: readonly string[]
  startWorker(options?: Partial<Pick<WorkerOptions, 'aheadMs'>>): Promise<FleetWorker>
  close(): Promise<void>
}

/** Starts a fleet without workers. */
export async function startFleet(options: FleetOptions = {}): Promise<FleetWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-fleet-'))
  const secret = randomBytes(32).toString('hex')
  const [restateServer, postgresServer, balancer, ledger, program] = await Promise.all([
    startRestate(join(folder, 'restate')),
    startServer(),
    startBalancer(),
    startLedger(folder),
    buildProgram(folder, new URL('./worker-program.ts', import.meta.url)),
  ])
  const { ingress, admin } = restateServer
  const notes = await LedgerClient.connect(ledger.socket)
  const store = `${postgresServer.url}?schema=fleet`
  const engine = restate({ ingress, secret })
  const services = postgres(postgresServer.url, { schema: 'fleet' })
  await services.ready()
  const logger = { warn: () => {}, error: () => {} }
  const web = new Map(
    fleetShapes.map((shape) => [
      shape,
      openFleetDesk({ shape, ledger: undefined, bodyMs: 0, engine, logger, ...services }),
    ]),
  )
  const errors: string[] = []
  const children = new Set<ChildProcess>()
  let started = 0

  const startWorker: FleetWorld['startWorker'] = async ({ aheadMs = 0 } = {}) => {
    const { leaseMs = 10_000, bodyMs = 20, maxCrashes = 1_000 } = options
    const common = { store, ingress, admin, url: balancer.url, secret, ledger: ledger.socket }
    const own: WorkerOptions = { ...common, leaseMs, bodyMs, aheadMs, maxCrashes }
    const id = ++started
    const child = fork(program, [JSON.stringify(own)], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') },
    })
    children.add(child)
    const exited = once(child, 'exit').then(() => void children.delete(child))
    const port = await new Promise<number>((resolve, reject) => {
      child.on('message', (message: { port?: number; error?: string; deed?: SessionDeed }) => {
        if (message.error !== undefined) errors.push(message.error)
        if (message.deed) options.onDeed?.(id, message.deed)
        if (message.port === undefined) return
        balancer.ports.add(message.port)
        resolve(message.port)
      })
      child.once('exit', (code) => reject(new Error(`A worker ended with ${code}.`)))
    })
    const end = async (): Promise<void> => {
      balancer.ports.delete(port)
      await exited
    }
    return {
      id,
      process: child,
      port,
      kill: async () => {
        child.kill('SIGKILL')
        await end()
      },
      stop: async () => {
        balancer.ports.delete(port)
        child.send('stop')
        await exited
      },
    }
  }

  const close = async (): Promise<void> => {
    for (const child of children) child.kill('SIGKILL')
    for (const runner of web.values()) await runner.close()
    await services.close().catch(() => {})
    balancer.close()
    await restateServer.close()
    await ledger[Symbol.asyncDispose]()
    await postgresServer.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  const parts = {
    restate: restateServer,
    postgres: postgresServer,
    balancer,
    ledger,
    notes,
    store,
    engine,
    secret,
    web,
    errors,
  }
  return { ...parts, startWorker, close }
}
