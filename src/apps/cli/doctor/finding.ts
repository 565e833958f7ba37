/** What one check of `toolwright doctor` found. */
export interface Finding {
  /** What was checked, in one or two words. */
  readonly check: string
  /** `warning`: something may surprise later. `problem`: something fails. */
  readonly status: 'ok' | 'warning' | 'problem'
  /** What was found, in one line. */
  readonly message: string
  /** What to do. */
  readonly fix?: string | undefined
}

/** Creates findings of one check. */
interface Findings {
  /** Nothing to do. */
  ok(message: string): Finding
  /** Something may surprise later. */
  warning(message: string, fix: string): Finding
  /** Something fails. */
  problem(message: string, fix?: string): Finding
}

/** A problem. The advice is added only if the message, which may be that of an error, has none of its own. */
export function problemOnce(check: string, message: string, advice: string): Finding {
  const hasAdvice = /\. [A-Z]|Run: /.test(message)
  return { check, status: 'problem', message, ...(hasAdvice ? {} : { fix: advice }) }
}

/** The findings of a check. */
export function findingsOf(check: string): Findings {
  return {
    ok: (message) => ({ check, status: 'ok', message }),
    warning: (message, fix) => ({ check, status: 'warning', message, fix }),
    problem: (message, fix) => ({ check, status: 'problem', message, fix }),
  }
}
