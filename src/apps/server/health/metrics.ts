import type { RunFigures } from './run-figures.ts'
import { HistogramSamples, valueLines } from './samples.ts'

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 5, 30, 120] as const

/** A figure that is read when `/metrics` is requested. */
interface Gauge {
  /** The name, such as `toolwright_active_runs`. */
  readonly name: string
  /** What it counts. */
  readonly help: string
  /** The value now. */
  read(): number | Promise<number>
}

/** Counts requests and streams. No label contains data of users. */
export class Metrics {
  /** Requests, by method, status and the pattern of the route, such as `/apps/:app/users/:user/sessions`. */
  readonly requests: HistogramSamples = new HistogramSamples(
    { name: 'toolwright_request_duration_seconds', help: 'Time until the response starts.' },
    BUCKETS,
  )
  readonly #runs: RunFigures | undefined
  #detaches = 0
  #recoveredRuns = 0
  #failedAuthentications = 0

  /** `runs`: what the runs of the apps do. Default: it is not measured. */
  constructor(runs?: RunFigures) {
    this.#runs = runs
  }

  /** Counts a reader that was detached because it was too slow. */
  countStreamDetach(): void {
    this.#detaches++
  }

  /** Counts interrupted runs that the server has continued. */
  countRecoveredRuns(runs: number): void {
    this.#recoveredRuns += runs
  }

  /** Counts a request without a valid credential. */
  countFailedAuthentication(): void {
    this.#failedAuthentications++
  }

  /** The figures in the text format of Prometheus. */
  async write(gauges: readonly Gauge[]): Promise<string> {
    const lines = [...this.requests.lines()]
    const count = (name: string, help: string, value: number): void => {
      lines.push(...valueLines({ name, help }, 'counter', value))
    }
    count('toolwright_stream_detaches_total', 'Readers that were too slow.', this.#detaches)
    count('toolwright_recovered_runs_total', 'Interrupted runs that were continued.', this.#recoveredRuns)
    count(
      'toolwright_failed_authentications_total',
      'Requests without a valid credential.',
      this.#failedAuthentications,
    )
    for (const gauge of gauges) lines.push(...valueLines(gauge, 'gauge', await gauge.read()))
    lines.push(...(this.#runs?.lines() ?? []))
    return `${lines.join('\n')}\n`
  }
}
