// Limits over real processes, one of which is killed.
import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { postgres } from 'toolwright/postgres'
import { sqlite } from 'toolwright/sqlite'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import type { LimitsChild } from './limits-child.ts'

const program = fileURLToPath(new URL('./limits-child.ts', import.meta.url))
const execArgv = ['--conditions=toolwright:source', '--disable-warning=ExperimentalWarning']

/** A line of the ledger. The lines of all processes are in the order in which they were written. */
interface Line {
  readonly what: 'start' | 'end' | 'killed'
  readonly id: string
  readonly pid: number
}

const kinds = [
  { name: 'SQLite', create: (folder: string) => ({ file: join(folder, 'limits.db') }) },
  { name: 'Postgres', create: () => ({ url: inject('postgresUrl'), schema: `test_${randomUUID()}` }) },
]

/** A store with its tables, and an empty ledger. */
async function prepare({ create }: (typeof kinds)[number]) {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const store = create(folder)
  if ('file' in store) sqlite(store.file).close()
  else await withClosed(postgres(store.url, { schema: store.schema }))
  const ledger = join(folder, 'ledger')
  writeFileSync(ledger, '')
  const lines = (): Line[] =>
    readFileSync(ledger, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  return { store, ledger, lines }
}

async function withClosed(services: ReturnType<typeof postgres>): Promise<void> {
  await services.ready()
  await services.close()
}

interface Child {
  readonly pid: number
  readonly ended: Promise<number | null>
  begin(): void
  kill(): Promise<void>
}

async function startChild(options: LimitsChild): Promise<Child> {
  const child: ChildProcess = fork(program, [JSON.stringify(options)], { execArgv })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  await new Promise((resolve) => child.once('message', resolve))
  return { pid: child.pid ?? 0, ended, begin: () => void child.send('begin'), kill }
}

/** The most bodies that ran at the same time. Those of a killed process end with it. */
function mostAtOnce(lines: readonly Line[]): number {
  const running = new Map<string, number>()
  let most = 0
  for (const { what, id, pid } of lines) {
    if (what === 'start') running.set(id, pid)
    if (what === 'end') running.delete(id)
    if (what === 'killed') for (const [one, of] of running) if (of === pid) running.delete(one)
    most = Math.max(most, running.size)
  }
  return most
}

describe.each(kinds)('on $name', (kind) => {
  test('four processes, one with a clock 10 minutes off, never run more calls at once than max, and the slots of a killed one come back', async () => {
    const { store, ledger, lines } = await prepare(kind)
    const options = { store, ledger, max: 3, workMs: 40 }
    const others = await Promise.all(
      ['ada', 'bob', 'cyd'].map((userId, at) =>
        startChild({ ...options, userId, calls: 15, skewMs: at === 0 ? 600_000 : 0 }),
      ),
    )
    const doomed = await startChild({ ...options, userId: 'eve', calls: 4, workMs: 600_000, skewMs: -600_000 })
    doomed.begin()
    await expect.poll(() => lines().length, { timeout: 30_000 }).toBe(3) // it has all slots
    for (const child of others) child.begin()
    await doomed.kill()
    appendFileSync(ledger, `${JSON.stringify({ what: 'killed', id: '', pid: doomed.pid })}\n`)
    expect(lines()).toHaveLength(4) // its slots are still taken
    expect(await Promise.all(others.map(({ ended }) => ended))).toEqual([0, 0, 0])
    const starts = lines().filter(({ what }) => what === 'start')
    expect(starts).toHaveLength(3 + 45)
    expect(mostAtOnce(lines())).toBe(3)
    // users take turns: while all wait, none has had all its calls before another one had a third of them
    const turns = starts.slice(3).map(({ pid }) => pid)
    const usersAmongFirst = new Set(turns.slice(0, 20))
    expect(usersAmongFirst.size).toBe(3)
  }, 120_000)

  test('two processes start no more calls in a period than max', async () => {
    const { store, ledger, lines } = await prepare(kind)
    const options = { store, ledger, max: 4, perMs: 1_500, workMs: 0, calls: 6 }
    const children = await Promise.all([
      startChild({ ...options, userId: 'ada' }),
      startChild({ ...options, userId: 'bob', skewMs: 600_000 }),
    ])
    const began = performance.now()
    for (const child of children) child.begin()
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0])
    expect(performance.now() - began).toBeGreaterThanOrEqual(3_000) // 12 starts are three periods
    expect(lines().filter(({ what }) => what === 'start')).toHaveLength(12)
  }, 60_000)
})
