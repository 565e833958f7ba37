// One Restate server for all tests of a run, in a network of its own. Vitest calls this only if one of them is selected.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { forward } from './forward.ts'
import { canLeaveNetwork, withoutNetwork } from './namespace.ts'
import type { WorkerAddresses } from './restate-program.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The Restate server of this run. Undefined where no network namespace can be made. */
    restate: SharedRestate | undefined
  }
}

/** A Restate server that tests share. */
export interface SharedRestate {
  /** The address of its ingress. */
  readonly ingress: string
  /** The address of its admin API. */
  readonly admin: string
  /** Where its sockets are. */
  readonly folder: string
  /** Addresses for workers, as Restate sees them. */
  readonly addresses: WorkerAddresses
}

const PROGRAM = fileURLToPath(new URL('restate-program.ts', import.meta.url))

/** Starts the server. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!canLeaveNetwork()) {
    console.log('Restate is not tested: no network namespace can be made here.')
    project.provide('restate', undefined)
    return async () => {}
  }
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-restate-'))
  const [command, args] = withoutNetwork([process.execPath, '--disable-warning=ExperimentalWarning', PROGRAM, folder])
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  const [addresses] = await Promise.race([
    once(child, 'message') as Promise<[WorkerAddresses]>,
    exited.then(([code]) => Promise.reject(new Error(`The program of Restate ended with ${code}.`))),
  ])
  const addressOf = (name: string) => forward({ host: '127.0.0.1', port: 0 }, () => ({ path: join(folder, name) }))
  const [ingress, admin] = await Promise.all([addressOf('ingress'), addressOf('admin')])
  const urlOf = ({ port }: typeof ingress): string => `http://127.0.0.1:${port}`
  project.provide('restate', { ingress: urlOf(ingress), admin: urlOf(admin), folder, addresses })
  return async () => {
    for (const one of [ingress, admin]) one.close()
    child.disconnect()
    await exited
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
