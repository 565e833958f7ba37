// How a process reports its steps to the payment server, which outlives the process.

/** A process has reached a step. */
export interface StepReport {
  /** The step, for example `effect atMostOnce`. */
  readonly step: string
  /** The idempotency key, if the step belongs to a tool call. */
  readonly key?: string
  /** The name of the process, if several run at one time. */
  readonly processName?: string
  /** The event, if the step is a yielded event. */
  readonly yieldedEvent?: { readonly sessionId: string; readonly id: string }
}

/** Sends a report and resolves with the answer of the server. A held process never gets an answer. */
export type ReportStep = (report: StepReport) => Promise<{ readonly [key: string]: unknown }>

export function createStepReporter(url: string, processName?: string): ReportStep {
  return async (report) => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify({ ...report, processName }) })
    return (await response.json()) as { readonly [key: string]: unknown }
  }
}
