// A payment server, which outlives the processes that call it. It records every step, applies each payment once for
// each idempotency key, and can hold a process at a chosen step, so that the test kills the process exactly there.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { StepReport } from './step-report.ts'

/** What `reconcile` answers: whether the payment was applied, or that this is unknown. */
export type ReconcileAnswer = 'truth' | 'unknown'

export class PaymentServer {
  readonly url: string
  /** All reports, in order. */
  readonly reports: StepReport[] = []
  /** The applied payments by idempotency key. A second payment with the same key changes nothing. */
  readonly appliedPayments: Map<string, string> = new Map()
  reconcileAnswer: ReconcileAnswer = 'truth'
  #holds: { readonly step: string; readonly reached: () => void }[] = []
  #listeners: ((report: StepReport) => void)[] = []

  /** Starts a server on loopback that closes at the end of the test. */
  static async start(): Promise<PaymentServer> {
    const http = createServer((request, response) => void server.#handle(request, response))
    http.listen(0, '127.0.0.1')
    await once(http, 'listening')
    const server = new PaymentServer(`http://127.0.0.1:${(http.address() as AddressInfo).port}`)
    onTestFinished(() => {
      http.close()
      http.closeAllConnections()
    })
    return server
  }

  private constructor(url: string) {
    this.url = url
  }

  /** Never answers the next process that reports this step. Resolves when the process has reported it. */
  holdAt(step: string): Promise<void> {
    return new Promise((reached) => this.#holds.push({ step, reached }))
  }

  /** Resolves at the first report that matches. */
  waitForReport(matches: (report: StepReport) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const listener = (report: StepReport): void => {
        if (!matches(report)) return
        this.#listeners = this.#listeners.filter((other) => other !== listener)
        resolve()
      }
      this.#listeners.push(listener)
    })
  }

  /** The idempotency keys of all reports of this step. */
  keysAt(step: string): string[] {
    return this.reports.filter((report) => report.step === step).map(({ key = '' }) => key)
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const report = (await json(request)) as StepReport // only processes of the test know the address
    this.reports.push(report)
    const answer = this.#apply(report)
    const hold = this.#holds.find(({ step }) => step === report.step)
    this.#holds = this.#holds.filter((other) => other !== hold)
    for (const listener of this.#listeners) listener(report)
    if (hold) hold.reached()
    else response.end(JSON.stringify(answer))
  }

  #apply({ step, key = '' }: StepReport): object {
    const [kind] = step.split(' ')
    if (kind === 'effect') {
      const isNew = !this.appliedPayments.has(key)
      if (isNew) this.appliedPayments.set(key, step)
      return { paid: true, isNew }
    }
    if (kind !== 'reconcile') return {}
    if (this.reconcileAnswer === 'unknown') return { status: 'unknown' }
    return this.appliedPayments.has(key) ? { status: 'done', result: { paid: 'found' } } : { status: 'not-done' }
  }
}
