import type { Logger } from '../dispatch/host.ts'

/** Tells the operator of a row that is passed over because it is damaged. */
export type ReportDamage = (what: string) => void

/** Rows that are remembered; beyond that a row may be reported more than once. */
const MAX_REPORTED = 1_000

/** Once for each row: a session looks at its inbox many times. */
export function damageReporter(logger: Logger): ReportDamage {
  const reported = new Set<string>()
  return (what) => {
    if (reported.has(what)) return
    if (reported.size < MAX_REPORTED) reported.add(what)
    logger.warn(
      `${what} is damaged in the database and was passed over. Restore the file from a backup to get it back.`,
    )
  }
}
