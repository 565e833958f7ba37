// A disk that is full, fails or writes only a part: strace injects the faults into the system calls on the files of a database.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CrashWorld, createCrashWorld } from './crash-world.ts'
import { openRawStore } from './rows/open-raw-store.ts'
import type { WriteOptions, WriteReport } from './victim/write-on-faulty-disk.ts'

/** A fault, and the system calls that fail: from the n-th on, for so many calls. */
interface Fault {
  readonly call: 'pwrite64' | 'fsync'
  readonly error: 'ENOSPC' | 'EIO'
  readonly from: number
  readonly count: number
}

type WriterOptions = Pick<WriteOptions, 'store' | 'count'>

const faults = [
  { what: 'is full', call: 'pwrite64', error: 'ENOSPC', count: 5 },
  { what: 'cannot write', call: 'pwrite64', error: 'EIO', count: 5 },
  { what: 'cannot sync', call: 'fsync', error: 'EIO', count: 2 },
] as const
const COUNT = 12

const problem = findProblem()
if (problem) console.log(`The tests of failing disks are skipped: ${problem}`)

let world: CrashWorld
beforeAll(async () => {
  world = await createCrashWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

describe.skipIf(problem !== undefined)('SQLite on a disk', { timeout: 60_000 }, () => {
  const later = [1, 5, 14]
  test.each(faults.flatMap((fault) => later.map((from) => ({ ...fault, from }))))(
    'that $what from $call $from on: a typed error, reads go on, nothing that was stored is lost',
    async (fault) => {
      const store = newStore()
      await run({ store, count: 0 }) // makes the tables
      const report = await run({ store, count: COUNT }, fault)
      expectTypedErrors(report, fault.error)
      for (const read of report.reads) expect(read).toBeGreaterThanOrEqual(0)
      expect(report.acked.at(-1), 'the disk works again').toBe(`e${COUNT - 1}`)
      await expectIntact(store, report)
    },
  )

  const early = [1, 8]
  test.each(faults.flatMap((fault) => early.map((from) => ({ ...fault, from }))))(
    'that $what from $call $from on, while the tables are made: a typed error, and the next process makes them',
    async (fault) => {
      const store = newStore()
      const report = await run({ store, count: 0 }, fault)
      if (report.errors.length > 0) expectTypedErrors(report, fault.error)
      else expect(fault.from, 'making the tables takes fewer syncs').toBeGreaterThan(1)
      await expectIntact(store, await run({ store, count: COUNT }))
    },
  )

  test('that does not fail: nothing fails', async () => {
    const store = newStore()
    const report = await run({ store, count: COUNT })
    expect(report).toMatchObject({ errors: [], reads: [] })
    expect(report.acked).toHaveLength(COUNT)
    await expectIntact(store, report)
  })
})

/** The limit is not at the end of a page: the system writes a part of it, then refuses the rest. */
test.each([8, 99, 203])(
  'SQLite writes only a part of a page before block %i is full: a typed error, nothing that was stored is lost',
  async (blocks) => {
    const store = newStore()
    await run({ store, count: 0 })
    await endLeases(store)
    const report = JSON.parse(
      execFileSync('sh', ['-c', `ulimit -f ${blocks}; exec "$@"`, 'sh', ...program({ store, count: COUNT })], {
        encoding: 'utf8',
      }),
    ) as WriteReport
    expectTypedErrors(report, 'EIO') // the system says that the file is too large
    await expectIntact(store, report)
    const next = await run({ store, count: COUNT * 2 }) // on a disk with space
    expect(next.errors).toEqual([])
    await expectIntact(store, next)
  },
)

/** The writer before did not release its lease. */
async function endLeases(store: string): Promise<void> {
  const raw = await openRawStore(store)
  await raw.endLeases('disk')
  await raw.close()
}

function newStore(): string {
  return join(mkdtempSync(join(world.folder, 'disk-')), 'app.db')
}

function expectTypedErrors({ errors }: WriteReport, error: Fault['error']): void {
  expect(errors.length).toBeGreaterThan(0)
  for (const { code, message } of errors) {
    expect(code).toBe('STORAGE')
    expect(message).toMatch(error === 'ENOSPC' ? /Free disk space/ : /\.db"/)
  }
}

/** The database is whole. A failed append is stored as a whole or not at all, a successful one is. */
async function expectIntact(store: string, { acked }: WriteReport): Promise<void> {
  const raw = await openRawStore(store)
  try {
    expect(await raw.findDamage()).toEqual([])
    const { seq, entries } = await raw.rows('disk')
    const ids = entries.map(({ eventId }) => String(eventId))
    expect(ids.filter((id) => acked.includes(id))).toEqual(acked)
    expect(entries.map((entry) => entry.seq)).toEqual(entries.map((_, at) => at + 1))
    expect(seq).toBe(entries.length)
  } finally {
    await raw.close()
  }
}

/** The command line of a writer. */
function program(options: WriterOptions): string[] {
  const command = JSON.stringify({ type: 'write', app: 'disk', ...options })
  return [process.execPath, '--disable-warning=ExperimentalWarning', world.program, command]
}

/** Runs a writer, under strace if its disk fails. */
async function run(options: WriterOptions, fault?: Fault): Promise<WriteReport> {
  await endLeases(options.store)
  const [file = '', ...args] = fault ? underStrace(options.store, fault, program(options)) : program(options)
  return JSON.parse(execFileSync(file, args, { encoding: 'utf8' })) as WriteReport
}

function underStrace(store: string, { call, error, from, count }: Fault, command: readonly string[]): string[] {
  const paths = ['', '-wal', '-journal'].flatMap((end) => ['-P', `${store}${end}`])
  const injection = `inject=${call}:error=${error}:when=${from}..${from + count - 1}`
  return ['strace', '-f', '-qqq', '-o', '/dev/null', ...paths, '-e', `trace=${call}`, '-e', injection, ...command]
}

/** Why this machine cannot inject faults; undefined if it can. */
function findProblem(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-strace-'))
  try {
    execFileSync('strace', ['-qqq', '-o', '/dev/null', '-e', 'inject=mkdir:error=EIO', 'true'], {
      cwd: folder,
      stdio: 'pipe',
    })
    return undefined
  } catch (error) {
    return `strace cannot run here (${error instanceof Error ? error.message.split('\n')[0] : ''}).`
  } finally {
    rmSync(folder, { recursive: true })
  }
}
