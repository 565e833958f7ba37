const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 5, 30, 120] as const

/** The requests of one route, method and status. */
interface RequestCount {
  count: number
  seconds: number
  /** The requests that took at most as long as each bucket. */
  readonly buckets: number[]
}

/** A figure that is read when `/metrics` is requested. */
interface Gauge {
  /** The name, such as `toolwright_active_runs`. */
  readonly name: string
  /** What it counts. */
  readonly help: string
  /** The value now. */
  read(): number | Promise<number>
}

/** Counts requests and streams. No label contains data of users: routes are patterns. */
export class Metrics {
  readonly #requests = new Map<string, RequestCount>()
  #detaches = 0
  #recoveredRuns = 0
  #failedAuthentications = 0

  /** Counts a request. `route` is the pattern of the route, such as `/apps/:app/users/:user/sessions`. */
  countRequest({ method, route, status }: { method: string; route: string; status: number }, seconds: number): void {
    const labels = `method="${method}",route="${escapeLabel(route)}",status="${status}"`
    let counted = this.#requests.get(labels)
    if (!counted) {
      counted = { count: 0, seconds: 0, buckets: BUCKETS.map(() => 0) }
      this.#requests.set(labels, counted)
    }
    counted.count++
    counted.seconds += seconds
    for (const [at, limit] of BUCKETS.entries())
      if (seconds <= limit) counted.buckets[at] = (counted.buckets[at] ?? 0) + 1
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
    const name = 'toolwright_request_duration_seconds'
    const lines = [`# HELP ${name} Time until the response starts.`, `# TYPE ${name} histogram`]
    for (const [labels, { count, seconds, buckets }] of this.#requests) {
      for (const [at, limit] of BUCKETS.entries()) lines.push(`${name}_bucket{${labels},le="${limit}"} ${buckets[at]}`)
      lines.push(`${name}_bucket{${labels},le="+Inf"} ${count}`)
      lines.push(`${name}_sum{${labels}} ${seconds}`, `${name}_count{${labels}} ${count}`)
    }
    const detaches = 'toolwright_stream_detaches_total'
    lines.push(`# HELP ${detaches} Readers that were too slow.`, `# TYPE ${detaches} counter`)
    lines.push(`${detaches} ${this.#detaches}`)
    const recovered = 'toolwright_recovered_runs_total'
    lines.push(`# HELP ${recovered} Interrupted runs that were continued.`, `# TYPE ${recovered} counter`)
    lines.push(`${recovered} ${this.#recoveredRuns}`)
    const failed = 'toolwright_failed_authentications_total'
    lines.push(`# HELP ${failed} Requests without a valid credential.`, `# TYPE ${failed} counter`)
    lines.push(`${failed} ${this.#failedAuthentications}`)
    for (const { name, help, read } of gauges)
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${await read()}`)
    return `${lines.join('\n')}\n`
  }
}

function escapeLabel(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}
