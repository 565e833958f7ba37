// npm run torture -- --kills 10000 --store sqlite --seed 7      kills processes at random; exits with 1 on a violation
// npm run torture -- --away 30                                  Postgres is away for 30 s while 50 runs are under way
import { parseArgs } from 'node:util'
import { startServer } from '../postgres/server.ts'
import { awayFor } from './away-for.ts'
import { type CrashStore, postgresSchemas, sqliteFiles } from './crash-store.ts'
import { createCrashWorld } from './crash-world.ts'
import { killAtRandom } from './random-kills.ts'
import { rideOut, SESSIONS } from './ride-out.ts'

/** After so many kills come new sessions, so that logs stay short and starts quick. */
const KILLS_PER_ROUND = 100

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '1000' },
    store: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    away: { type: 'string', default: '0' },
  },
})
const [kills, seed, awaySeconds] = [wholeNumber(values.kills), wholeNumber(values.seed), wholeNumber(values.away)]
if (awaySeconds === 0) console.log(`${kills} kills on ${values.store}, seed ${seed}`)
if (!(await (awaySeconds > 0 ? rideOutAbsence() : tortureStore(values.store)))) process.exitCode = 1

/** Callers get errors after some seconds, and try again; the runs that the server left wait, or are recovered. */
async function rideOutAbsence(): Promise<boolean> {
  await using server = await startServer()
  await using world = await createCrashWorld()
  const { violations, failures, effects } = await rideOut(world, {
    store: postgresSchemas(server.url),
    conversations: 4,
    maxMs: awaySeconds * 1_000 + 600_000,
    trouble: async () => void (await awayFor(server, awaySeconds * 1_000)),
  })
  for (const violation of violations) console.log(violation)
  const counts = Map.groupBy(failures, ({ code }) => code)
  const codes = [...counts].map(([code, lines]) => `${lines.length} ${code}`).join(', ') || 'no errors'
  console.log(
    `${SESSIONS} runs without Postgres for ${awaySeconds} s: ${effects} effects, ${codes}, ${violations.length} violations`,
  )
  return violations.length === 0
}

async function tortureStore(name: string): Promise<boolean> {
  if (name === 'sqlite') return await torture(sqliteFiles)
  if (name !== 'postgres') {
    console.error(`There is no store "${name}". Pass --store sqlite or --store postgres.`)
    process.exit(2)
  }
  await using server = await startServer()
  return await torture(postgresSchemas(server.url))
}

async function torture(store: CrashStore): Promise<boolean> {
  const started = performance.now()
  let violations = 0
  await using world = await createCrashWorld()
  for (let done = 0, round = 0; done < kills; done += KILLS_PER_ROUND, round++) {
    const name = `round-${round}`
    const report = await killAtRandom(world, {
      store: store.open(world, name),
      name,
      kills: Math.min(KILLS_PER_ROUND, kills - done),
      seed: seed + round,
    })
    for (const violation of report.violations) console.log(`${violation} (seed ${seed + round})`)
    violations += report.violations.length
    world.ledger.clear()
    console.log(`${Math.min(done + KILLS_PER_ROUND, kills)} of ${kills}, ${report.effects} effects`)
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${kills} kills from seed ${seed}: ${violations} violations, ${seconds} s`)
  return violations === 0
}

function wholeNumber(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 0) return number
  console.error(`"${text}" is not a whole number.`)
  process.exit(2)
}
