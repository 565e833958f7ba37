// The limits of `bench:server`. Each row is a measurement; a row without `max` is only shown.

const rows = [
  { what: '200 concurrent runs, first event, p99 ms', max: 300, value: ({ some }) => some.firstP99 },
  { what: '200 concurrent runs, last event, p99 ms', value: ({ some }) => some.lastP99 },
  { what: '200 concurrent runs, errors', max: 0, value: ({ some }) => some.errors },
  { what: '1,000 concurrent runs, first event, p99 ms', max: 1_500, value: ({ many }) => many.firstP99 },
  { what: '1,000 concurrent runs, last event, p99 ms', value: ({ many }) => many.lastP99 },
  { what: '1,000 concurrent runs, errors', max: 0, value: ({ many }) => many.errors },
  { what: '1,000 concurrent runs, memory of the server, MB', max: 700, value: ({ many }) => many.rssMB },
  { what: 'one turn, runner, p50 ms', value: ({ single }) => single.runnerMs },
  { what: 'one turn, /run_sse, p50 ms', value: ({ single }) => single.lastP50 },
  {
    what: 'one turn, /run_sse over the runner, p50 ms',
    max: 1,
    value: ({ single }) => single.lastP50 - single.runnerMs,
  },
]

/** One row per measurement. A limit without a measurement is over. */
export function checkServerLimits(measured) {
  return rows.map(({ what, max, value }) => {
    const result = value(measured)
    return { what, max, measured: result, over: max !== undefined && !(result <= max) }
  })
}
