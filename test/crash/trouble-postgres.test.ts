// Postgres in trouble while 50 runs are under way: their callers get typed errors, and nothing that was acknowledged is lost.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startServer } from '../postgres/server.ts'
import { smallDisk } from '../postgres/small-disk.ts'
import { openSwitchboard } from '../postgres/switchboard.ts'
import { awayFor } from './away-for.ts'
import { postgresSchemas } from './crash-store.ts'
import { createCrashWorld } from './crash-world.ts'
import { type Failure, rideOut, SESSIONS } from './ride-out.ts'

const LIMITS = { conversations: 1, maxMs: 240_000 }
/** What a caller may get: the store is in trouble, or the last run of the session is not over, or waits for recover(). */
const EXPECTED = ['STORAGE', 'SESSION_BUSY', 'LEASE_LOST', 'PAUSED']

let server: PostgresServer
beforeAll(async () => {
  server = await startServer()
}, 60_000)
afterAll(() => server.close())

const unexpected = (failures: readonly Failure[]): readonly Failure[] =>
  failures.filter(({ code }) => !EXPECTED.includes(code))

test(`${SESSIONS} runs ride out a server that is away for 2 s, and no caller gets an error`, {
  timeout: 400_000,
}, async () => {
  await using world = await createCrashWorld()
  let awayMs = 0
  const report = await rideOut(world, {
    ...LIMITS,
    store: postgresSchemas(server.url),
    trouble: async () => {
      awayMs = await awayFor(server, 2_000)
    },
  })
  expect(report.violations).toEqual([])
  // a busy machine may take longer to start the server than callers wait
  expect(awayMs < 6_000 ? report.failures : unexpected(report.failures)).toEqual([])
  expect(report.effects).toBeGreaterThan(SESSIONS)
})

test(`${SESSIONS} runs on a full disk end with STORAGE, and are continued when there is room again`, {
  timeout: 400_000,
}, async ({ skip }) => {
  await using disk = await smallDisk(server)
  if (disk.url === undefined) {
    console.warn(`NOT TESTED: a full disk of Postgres: ${disk.reason}`)
    return skip()
  }
  await using world = await createCrashWorld()
  const report = await rideOut(world, {
    ...LIMITS,
    store: postgresSchemas(disk.url),
    async trouble({ until, failures }) {
      disk.fill()
      await until(() => failures().length >= SESSIONS)
      disk.empty()
    },
  })
  expect(report.violations).toEqual([])
  expect(unexpected(report.failures)).toEqual([])
  expect(report.failures.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('the disk of the server is full. Free disk space; the transaction was rolled back.'),
  )
})

test(`${SESSIONS} runs whose address leads to a copy of a killed server go on there`, {
  timeout: 400_000,
}, async () => {
  await using switchboard = await openSwitchboard(server.url)
  await using world = await createCrashWorld()
  let copy: PostgresServer | undefined
  try {
    const report = await rideOut(world, {
      ...LIMITS,
      store: postgresSchemas(switchboard.url),
      async trouble({ until, effects }) {
        await server.send('kill')
        switchboard.lead(undefined)
        copy = await startServer({ copyOf: server.folder })
        const before = effects()
        switchboard.lead(copy.url)
        await until(() => effects() > before)
      },
    })
    expect(report.violations).toEqual([])
    expect(unexpected(report.failures)).toEqual([])
  } finally {
    await copy?.close()
  }
})
