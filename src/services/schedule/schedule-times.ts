/** When runs start: one of `at`, `every` and `cron`. */
export interface ScheduleTimes {
  /** Once, at this time: a `Date`, or a text with a time zone such as `2027-03-01T08:00:00Z`. */
  readonly at?: Date | string | undefined
  /** Again and again, with this many milliseconds between two ticks. At least 1,000. */
  readonly every?: number | undefined
  /** At the times of a cron line, such as `0 8 * * 1-5`. Needs the package `croner`. */
  readonly cron?: string | undefined
  /** The IANA time zone of `cron`, such as `Europe/Oslo`. Default: `UTC`. */
  readonly timeZone?: string | undefined
  /**
   * What happens to ticks at which no worker was there: `skip` leaves them out, `once` starts one run for all of them, `all` starts a
   * run for each of the latest 100, one after another. Default: `once`.
   */
  readonly missed?: 'skip' | 'once' | 'all' | undefined
}
