// The limits of `bench:fleet`. A row without `max` and `min` is only shown.
import { median } from './prepare.mjs'

const rows = [
  { what: 'turn on Postgres, p50, ms', value: (of) => of('turn own') },
  { what: 'turn on Restate and Postgres, p50, ms', value: (of) => of('turn fleet') },
  { what: 'turn, Restate and Postgres minus Postgres, ms', max: 15, value: (of) => of('turn fleet') - of('turn own') },
  { what: 'sessions per second that compute for 20 ms, 2 workers', value: (of) => of('compute 2') },
  {
    what: 'sessions per second that compute for 20 ms, 3 workers over 2',
    value: (of) => of('compute 3') / of('compute 2'),
  },
  { what: 'sessions per second that hold their worker for 20 ms, 2 workers', value: (of) => of('hold 2') },
  {
    what: 'sessions per second that hold their worker for 20 ms, 3 workers over 2',
    min: 1.4,
    value: (of) => of('hold 3') / of('hold 2'),
  },
  { what: 'heap of a worker beside paused sessions minus before, MB', max: 5, value: (of) => of('idle MB') },
]

/** One row per measurement, from the samples of each metric. A limit without a measurement is over. */
export function checkFleetLimits(samples) {
  const of = (name) => (samples[name] ? median(samples[name]) : Number.NaN)
  return rows.map(({ what, min, max, value }) => {
    const measured = value(of)
    const over = (max !== undefined && !(measured <= max)) || (min !== undefined && !(measured >= min))
    return { what, min, max, measured, over }
  })
}
