// The limits of the attacks in `bench:server`: the turns of ada while eve attacks.

/** The rows of one attack. A limit without a measurement is over. */
export function checkAttackLimits(attack, { p99, errors, rssMB }) {
  const rows = [
    { what: `${attack}: turns of another user, p99 ms`, max: 250, measured: p99 },
    { what: `${attack}: failed turns of another user`, max: 0, measured: errors },
    { what: `${attack}: memory of the server, MB`, max: 1_000, measured: rssMB },
  ]
  return rows.map((row) => ({ ...row, over: !(row.measured <= row.max) }))
}
