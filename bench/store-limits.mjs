// The limits of `bench:store`. `of` gives the median of a metric's samples, `over` that of its ratios to another one's. A row without
// `max` and `min` is only shown.
import { median } from './prepare.mjs'

const share = { what: 'of the rate of a bare insert loop', min: 0.6 }

const both = [
  { what: 'turn after reopening a session of 50 entries, ms', value: (of) => of('turn short') },
  { what: 'turn after reopening the long session, ms', value: (of) => of('turn long') },
  { what: 'turn after reopening, long over short', max: 2, value: (_, over) => over('turn long', 'turn short') },
  { what: 'append at 10 entries, us', value: (of) => of('append short') },
  { what: 'append to the long session, us', value: (of) => of('append long') },
  { what: 'append, long over short', max: 1.2, value: (_, over) => over('append long', 'append short') },
  { what: 'run paused after 20 calls of 50 kB, bytes stored over content', max: 1.3, value: (of) => of('stored') },
  { what: 'commits of a turn with one call, effect "none"', max: 4, value: (of) => of('commits none') },
  { what: 'commits of a turn with one call, other effects', max: 5, value: (of) => of('commits other') },
  { what: 'turns per second at turn 200', value: (of) => of('late rate') },
  { what: 'worker beside idle paused sessions, MB', max: 5, value: (of) => of('idle MB') },
  { what: 'worker beside idle paused sessions, MB after 200 more looks', max: 1, value: (of) => of('idle growth MB') },
]

const rows = {
  sqlite: [
    ...both,
    { what: 'resume of the paused run in another process, ms', max: 50, value: (of) => of('resume') },
    { what: 'appends of 1 kB per second, NORMAL', value: (of) => of('rate normal') },
    { ...share, what: `appends, NORMAL, ${share.what}`, value: (of) => of('rate share normal') },
    { what: 'appends of 1 kB per second, FULL', value: (of) => of('rate full') },
    { ...share, what: `appends, FULL, ${share.what}`, value: (of) => of('rate share full') },
  ],
  postgres: [
    ...both,
    { what: 'resume of the paused run in another process, ms', value: (of) => of('resume') },
    { what: 'appends of 1 kB per second, 16 clients', value: (of) => of('rate 16 clients') },
    { ...share, what: `appends, 16 clients, ${share.what}`, value: (of) => of('rate share 16 clients') },
  ],
}

/** One row per measurement of a store, from the samples of each metric. A limit without a measurement is over. */
export function checkStoreLimits(store, samples) {
  const of = (name) => samples[name] && median(samples[name])
  const over = (name, other) =>
    samples[other] && samples[name] && median(samples[name].map((one, at) => one / samples[other][at]))
  return rows[store].map(({ what, min, max, value }) => {
    const measured = value(of, over)
    const isOver = (max !== undefined && !(measured <= max)) || (min !== undefined && !(measured >= min))
    return { what, min, max, measured, over: isOver }
  })
}
