import { copyJson } from '../../core/base/json.ts'
import { systemPorts } from '../../core/base/ports.ts'
import { checkId } from '../session/check-key.ts'
import { readPagePosition } from '../session/page.ts'
import { checkReport } from './check-report.ts'
import type { SeenWorker, WorkerKey, WorkerReport, WorkerService } from './service.ts'

interface Kept {
  readonly report: WorkerReport
  readonly seenAt: number
}

/**
 * Keeps the workers of this process in its memory.
 *
 * @example
 * const runner = new Runner({ appName: 'shop', agent, workerService: new InMemoryWorkerService() })
 */
export class InMemoryWorkerService implements WorkerService {
  readonly #kept: Map<string, Kept> = new Map()
  readonly #now: () => number

  constructor({
    monotonicNow = systemPorts.monotonicNow,
  }: { readonly monotonicNow?: (() => number) | undefined } = {}) {
    this.#now = monotonicNow
  }

  async report(worker: WorkerReport): Promise<void> {
    checkReport(worker)
    const id = idOf(worker)
    this.#kept.delete(id) // the latest comes last
    this.#kept.set(id, { report: copyJson(worker), seenAt: this.#now() })
  }

  async remove(key: WorkerKey): Promise<void> {
    this.#kept.delete(idOf(key))
  }

  async list({ appName, limit }: { appName: string; limit: number }): Promise<SeenWorker[]> {
    readPagePosition({ limit }) // throws for a limit that is not valid
    const latest = this.#of(appName).reverse().slice(0, limit)
    return latest.map(({ report, seenAt }) => ({ ...copyJson(report), unseenMs: this.#now() - seenAt }))
  }

  async sweep({ appName, unseenMs }: { appName: string; unseenMs: number }): Promise<number> {
    const lost = this.#of(appName).filter(({ seenAt }) => this.#now() - seenAt > unseenMs)
    for (const { report } of lost) this.#kept.delete(idOf(report))
    return lost.length
  }

  #of(appName: string): Kept[] {
    checkId('appName', appName)
    return [...this.#kept.values()].filter(({ report }) => report.appName === appName)
  }
}

/** A key that is different for each app and id, whatever characters they contain. */
function idOf({ appName, id }: WorkerKey): string {
  return JSON.stringify([appName, id])
}
