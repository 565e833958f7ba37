/** Receives reports of damaged rows. */
export interface DamageLogger {
  /** Takes a report. */
  warn(message: string): void
}

/** Reports a damaged row that is skipped. */
export type ReportDamage = (what: string) => void

/** How many reported rows are remembered. Beyond it a row may be reported again. */
const MAX_REPORTED = 1_000

/** Logs each damaged row once: a session reads its inbox many times. */
export function damageReporter(logger: DamageLogger): ReportDamage {
  const reported = new Set<string>()
  return (what) => {
    if (reported.has(what)) return
    if (reported.size < MAX_REPORTED) reported.add(what)
    logger.warn(`${what} is damaged in the database and was skipped. Restore the file from a backup to recover it.`)
  }
}
