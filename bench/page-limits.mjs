// The limits of `bench:page`. Each row is a measurement; a row without `max` is only shown.

const rows = [
  { what: 'first paint from a cold server, ms', max: 1_000, value: ({ start }) => start.firstPaintMs },
  { what: 'conversation shown from a cold server, ms', value: ({ start }) => start.shownMs },
  { what: 'bytes of the page', max: 350_000, value: ({ start }) => start.bytes },
  { what: 'chat of 100,000 events, longest block while reading and scrolling, ms', max: 200, value: worst('chat') },
  { what: 'chat of 100,000 events, most DOM nodes', max: 5_000, value: ({ chat }) => chat.nodes },
  { what: 'log of 100,000 events, longest block while reading and scrolling, ms', max: 200, value: worst('log') },
  { what: 'log of 100,000 events, most DOM nodes', max: 5_000, value: ({ log }) => log.nodes },
  { what: 'run of 5,000 steps, longest block while it streams, ms', max: 100, value: ({ run }) => run.streamingMs },
  {
    what: 'run of 5,000 steps, longest block while its timeline opens and is read, ms',
    max: 100,
    value: ({ run }) => run.timelineMs,
  },
  { what: 'run of 5,000 steps, most DOM nodes', max: 15_000, value: ({ run }) => run.nodes },
]

function worst(list) {
  return (measured) => Math.max(measured[list].longestTaskMs, measured[list].longestGapMs)
}

/** One row per measurement. A limit without a measurement is over. */
export function checkPageLimits(measured) {
  return rows.map(({ what, max, value }) => {
    const result = value(measured)
    return { what, max, measured: result, over: max !== undefined && !(result <= max) }
  })
}
