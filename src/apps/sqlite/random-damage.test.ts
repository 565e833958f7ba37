// Damages a file with a paused run at random: every method either works or fails with the same clear error each time, and
// no unapproved call runs.
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { expect, test, vi } from 'vitest'
import { type ScriptedStep, scriptedModel } from '../../adapters/testing/scripted-model.ts'
import { HOME, requestOf } from '../../adapters/testing/suites/session-fixtures.ts'
import { isRecord } from '../../core/base/json.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { LlmAgent } from '../../engine/agent/agents/llm-agent.ts'
import { approve } from '../../engine/runner/approvals/answer-parts.ts'
import type { Run } from '../../engine/runner/run/run-handle.ts'
import { Runner } from '../../engine/runner/runner.ts'
import { tool } from '../../engine/tool/define-tool.ts'
import { type SqliteServices, sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

vi.setConfig({ testTimeout: 120_000 }) // hundreds of files on a busy machine

const SEEDS = 200
const logger = { warn: () => {}, error: () => {} }
// short: damage can revive a lease
const OPTIONS = { logger, leaseMs: 1_000 }

function shop(services: SqliteServices, steps: readonly ScriptedStep[], pay: () => unknown): Runner {
  const tools = [
    tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: pay }),
    tool({
      name: 'look',
      description: 'Looks',
      effect: 'none',
      run: (_args, { state }) => ({ color: state.get('color') }),
    }),
  ]
  return new Runner({
    appName: HOME.appName,
    agent: new LlmAgent({ name: 'clerk', model: scriptedModel(steps), tools }),
    logger,
    ...services,
  })
}

/** Fills a file with a finished run, a paused run, state, an inbox item and an artifact. Returns the id of the request. */
async function pausedFile(): Promise<{ file: string; requestId: string }> {
  const file = temporaryFile()
  const services = sqlite(file, OPTIONS)
  const steps: ScriptedStep[] = [
    { calls: [{ id: 'c1', name: 'look' }] },
    'Looked.',
    {
      calls: [
        { id: 'c2', name: 'pay', args: { amount: 5 } },
        { id: 'c3', name: 'look' },
      ],
    },
  ]
  const runner = shop(services, steps, () => ({ paid: true }))
  await runner.complete({ ...HOME, message: 'look', stateDelta: { color: 'red', 'user:name': 'Ada', 'app:x': [1] } })
  const { pending } = await runner.complete({ ...HOME, message: 'pay' })
  await services.sessionService.post(HOME, { id: 'i1', type: 'state', stateDelta: { size: 'xl' } })
  await services.artifactService.saveArtifact({ ...HOME, filename: 'a.txt', artifact: { text: 'x' } })
  await runner.close()
  services.close()
  return { file, requestId: pending[0]?.id ?? '' }
}

/** All uses of a session, the approval last. */
function usesOf(services: SqliteServices, runner: Runner, requestId: string): [string, () => Promise<unknown>][] {
  const { sessionService, artifactService } = services
  const { appName } = HOME
  return [
    ['getSession', () => sessionService.getSession(HOME)],
    ['listSessions', () => sessionService.listSessions(HOME)],
    ['interrupted', () => sessionService.interrupted({ appName })],
    ['pending of all', () => runner.pending()],
    ['pending of one', () => runner.pending(HOME)],
    ['artifacts', () => artifactService.listArtifactVersions({ ...HOME, filename: 'a.txt' })],
    ['artifact', () => artifactService.loadArtifact({ ...HOME, filename: 'a.txt' })],
    ['new text', () => runner.complete({ ...HOME, message: 'more' })],
    ['resume', () => ended(runner.resume(HOME))],
    ['recover', async () => await Promise.all((await runner.recover()).map(ended))],
    ['approval', () => runner.complete({ ...HOME, message: [approve(requestOf(requestId))] })],
  ]
}

async function ended(run: Run): Promise<void> {
  for await (const _ of run);
}

/** The error of a use; undefined when it worked. */
async function failureOf(use: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await use()
    return undefined
  } catch (error) {
    if (error instanceof ToolwrightError) return `${error.code}: ${error.message}`
    throw error
  }
}

test.each([
  ['a row', changeRow],
  ['some bytes', changeBytes],
])(
  'a SQLite file with random damage to %s works or fails with an error that names the damage',
  async (_what, change) => {
    const { file, requestId } = await pausedFile()
    const counts = { worked: 0, failed: 0 }
    for (let seed = 1; seed <= SEEDS; seed++) {
      const copy = `${file}.${seed}`
      copyFileSync(file, copy)
      const how = change(copy, new Random(seed))
      const keeper = keepOpen(copy)
      try {
        counts[(await survives(copy, requestId, change === changeBytes)) ? 'worked' : 'failed']++
      } catch (error) {
        throw new Error(`seed ${seed}, ${how}: ${String(error)}`, { cause: error })
      } finally {
        keeper.close()
      }
    }
    expect(counts.worked).toBeGreaterThan(SEEDS / 10)
    expect(counts.failed).toBeGreaterThan(SEEDS / 10)
  },
)

/** A connection without disk sync, which makes hundreds of files fast. */
function keepOpen(file: string): DatabaseSync {
  const connection = new DatabaseSync(file)
  try {
    connection.exec('PRAGMA synchronous = OFF; SELECT 1 FROM sqlite_schema')
  } catch {
    // the file is damaged, as intended
  }
  return connection
}

test('the SQLite file of the random damage test works without damage', async () => {
  const { file, requestId } = await pausedFile()
  expect(await survives(file, requestId)).toBe(true)
})

const RUNS: ReadonlySet<string> = new Set(['new text', 'resume', 'recover', 'approval'])

/** Uses the file twice on one connection and once on another; false when the approved call did not run. */
async function survives(file: string, requestId: string, areBytesChanged = false): Promise<boolean> {
  const pay = vi.fn(() => ({ paid: true }))
  const steps = Array.from({ length: 20 }, () => 'Done.')
  let wasApproved = false
  for (const _process of [1, 2]) {
    let services: SqliteServices | undefined
    const refused = await failureOf(async () => {
      services = sqlite(file, OPTIONS)
    })
    if (!services) {
      expect(await failureOf(async () => sqlite(file, OPTIONS).close())).toBe(refused)
      return false
    }
    const runner = shop(services, steps, pay)
    for (const [name, use] of usesOf(services, runner, requestId)) {
      wasApproved ||= name === 'approval'
      const failures = [await failureOf(use), await failureOf(use)]
      // a run that fails on a damaged page may take another path the next time
      const mayDiffer = areBytesChanged && RUNS.has(name)
      if (failures[0]?.startsWith('STORAGE') && !mayDiffer) expect(failures[1], `${name} again`).toBe(failures[0])
      if (!wasApproved) expect(pay, `${name} before the approval`).not.toHaveBeenCalled()
    }
    await runner.close()
    services.close()
  }
  expect(pay.mock.calls.length).toBeLessThanOrEqual(1)
  return pay.mock.calls.length === 1
}

/** A random number generator with a seed. */
class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed * 0x9e3779b9
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }

  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }
}

const TABLES = [
  'sessions',
  'entries',
  'entries',
  'entries',
  'entries',
  'state',
  'inbox',
  'pending',
  'artifacts',
  'meta',
]
const NUMBERS = [0, -1, 1, 2, 7, 1e12, -(2 ** 40), 2n ** 62n, 1e300]
const VALUES = [7, -1, 1.5, '', 'x', null, true, [], {}, [7], [null], { parts: [7] }, { id: 7 }]

/** Changes one column of a row, or deletes the row. */
function changeRow(file: string, random: Random): string {
  const table = `toolwright_${random.of(TABLES)}`
  const connection = new DatabaseSync(file)
  connection.exec('PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF')
  try {
    const rows = connection.prepare(`SELECT rowid AS row_number, * FROM ${table}`).all()
    const row = random.of(rows)
    const where = `WHERE rowid = ${String(row.row_number)}`
    if (random.below(10) === 0) {
      connection.exec(`DELETE FROM ${table} ${where}`)
      return `${table} ${where} deleted`
    }
    const column = random.of(Object.keys(row).filter((name) => name !== 'row_number'))
    const value = changed(row[column], random)
    try {
      connection.prepare(`UPDATE ${table} SET ${column} = ? ${where}`).run(value)
    } catch (error) {
      return `${table} refused ${column}: ${String(error)}` // the tables are strict
    }
    return `${table} ${where} ${column} = ${String(value)}`
  } finally {
    connection.close()
  }
}

function changed(value: unknown, random: Random): SQLInputValue {
  if (typeof value === 'number') return random.of(NUMBERS)
  if (typeof value !== 'string') return random.of(['x', null, 7])
  if (random.below(6) === 0) return value.slice(0, random.below(value.length + 1))
  const json = parsed(value)
  if (json === undefined) return random.of(['', 'x', '"', '{}', `${value}x`])
  return JSON.stringify(changedInside(json, random))
}

/** Changes or removes a nested value. */
function changedInside(json: unknown, random: Random): unknown {
  const isInside = random.below(5) > 0
  if (isInside && Array.isArray(json) && json.length > 0) {
    const at = random.below(json.length)
    return random.below(5) === 0 ? json.toSpliced(at, 1) : json.with(at, changedInside(json[at], random))
  }
  if (isInside && isRecord(json) && Object.keys(json).length > 0) {
    const key = random.of(Object.keys(json))
    const { [key]: inner, ...rest } = json
    return random.below(5) === 0 ? rest : { ...json, [key]: changedInside(inner, random) }
  }
  return random.of(VALUES)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Changes up to eight bytes, zeroes a range, or truncates the file. */
function changeBytes(file: string, random: Random): string {
  const bytes = readFileSync(file)
  const kind = random.below(8)
  if (kind === 0) {
    const size = random.below(bytes.length)
    truncateSync(file, size)
    return `cut to ${size} bytes`
  }
  const places = Array.from({ length: 1 + random.below(8) }, () => random.below(bytes.length))
  for (const at of places) {
    if (kind === 1) bytes.fill(0, at, Math.min(at + 512, bytes.length))
    else bytes[at] = random.below(256)
  }
  writeFileSync(file, bytes)
  return `bytes at ${places.join(', ')}, kind ${kind}`
}
