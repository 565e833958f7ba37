// The auditor finds what it looks for: each violation is planted in the evidence of an honest run.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqliteFiles } from '../crash-store.ts'
import { type CrashWorld, createCrashWorld } from '../crash-world.ts'
import type { Shape } from '../kill-points.ts'
import type { LedgerLine } from '../ledger/ledger-line.ts'
import { openRawStore } from '../rows/open-raw-store.ts'
import type { RawEntry, RawRows } from '../rows/raw-rows.ts'
import { audit } from './audit.ts'
import type { Evidence } from './evidence.ts'

const shapes = ['parallel', 'gated', 'live'] as const satisfies readonly Shape[]

let world: CrashWorld
const honest = new Map<Shape, Evidence>()

beforeAll(async () => {
  world = await createCrashWorld()
  const desks = shapes.map((shape) => ({ app: shape, shape, store: sqliteFiles.open(world, shape) }))
  await world.run({ type: 'converse', desks, death: 'never' })
  await world.run({ type: 'finish', desks, death: 'never' })
  for (const { app, store } of desks) {
    const raw = await openRawStore(store)
    const lines = world.ledger.lines().filter((line) => line.app === app)
    honest.set(app, { rows: await raw.rows(app), lines })
    await raw.close()
  }
}, 60_000)
afterAll(() => world[Symbol.asyncDispose]())

test.each(shapes)('finds nothing in an honest %s run', (shape) => {
  expect(audit(evidenceOf(shape))).toEqual([])
})

type Plant = (evidence: Evidence) => Evidence

const plants: readonly (readonly [what: string, shape: Shape, plant: Plant, found: RegExp])[] = [
  [
    'an event that is lost',
    'parallel',
    withEntries((entries) => renumber(without(entries, 'done'))),
    /is not in the log/,
  ],
  ['a gap in the log', 'parallel', withEntries((entries) => without(entries, 'intent')), /has the sequence number/],
  ['a session that counts wrong', 'parallel', withRows((rows) => ({ seq: rows.seq + 1 })), /The session counts/],
  [
    'an event that is stored twice',
    'parallel',
    withEntries((entries) => repeat(entries, 'done')),
    /Two events have one id/,
  ],
  ['events in another order', 'parallel', withLines((lines) => lines.toReversed()), /after a later one/],
  ['a second response', 'parallel', withEntries((entries) => repeat(entries, '"functionResponse"')), /2 responses/],
  ['a missing response', 'parallel', withEntries((entries) => without(entries, '"functionResponse"')), /0 responses/],
  [
    'a second effect',
    'parallel',
    withLines((lines) => repeatLine(lines, 'effect', 'pay')),
    /\(atMostOnce\) took effect 2/,
  ],
  [
    'a second effect instead of a reconciliation',
    'parallel',
    withLines((lines) => repeatLine(lines, 'effect', 'send')),
    /\(reconcilable\) took effect 2/,
  ],
  ['a second body', 'parallel', withLines((lines) => repeatLine(lines, 'body', 'pay')), /pay ran twice/],
  [
    'a result without an effect',
    'parallel',
    withLines((lines) => withoutLine(lines, 'effect', 'book')),
    /book has the result of an effect/,
  ],
  ['an effect without an intent', 'gated', withEntries((entries) => without(entries, '"intent"')), /without an intent/],
  ['an effect without a call', 'parallel', withLines((lines) => lines.map(foreign)), /its call is not in the log/],
  [
    'an unknown outcome of an idempotent call',
    'parallel',
    withResponse('book', { errorCode: 'UNKNOWN_OUTCOME' }),
    /\(idempotent\) has an unknown/,
  ],
  [
    'a cancelled call that took effect',
    'live',
    withResponse('pay', { errorCode: 'CANCELLED' }),
    /cancelled and took effect 1/,
  ],
  [
    'a call that was cancelled in a text run',
    'gated',
    withResponse('pay_approved', { errorCode: 'CANCELLED' }),
    /was cancelled/,
  ],
  ['another error', 'gated', withResponse('pay_approved', { errorCode: 'EXECUTION_FAILED' }), /was answered with/],
  [
    'a call without its approval',
    'gated',
    withEntries((entries) => without(entries, '"confirmed":true')),
    /without an approval before it/,
  ],
  [
    'a denial that counts as an approval',
    'gated',
    withEntries((entries) => replaced(entries, '"confirmed":true', '"confirmed":false')),
    /without an approval before it/,
  ],
  [
    'a body before its approval',
    'gated',
    withLines((lines) => lines.toReversed()),
    /ran before its caller approved it/,
  ],
  ['an inbox item that is left over', 'gated', withRows(() => ({ inbox: ['note-1'] })), /is left over/],
  ['a request that is left over', 'gated', withRows(() => ({ pending: [{ id: 'r1' }] })), /still pending/],
  [
    'a posted item that is lost',
    'gated',
    withLines((lines) => [...lines, { ...lines[0], type: 'posted', note: 'note-1' } as LedgerLine]),
    /note-1 is lost/,
  ],
  [
    'a posted item that took effect twice',
    'gated',
    withEntries((entries) => repeat(entries, '"note-')),
    /took effect 2 times/,
  ],
  ['state that is missing', 'gated', withRows(() => ({ state: new Map() })), /State ".*" is undefined/],
  [
    'state that no event wrote',
    'gated',
    withRows(({ state }) => ({ state: new Map([...state, ['x', 1]]) })),
    /State "x" is 1/,
  ],
  ['an invocation without an end', 'gated', withEntries((entries) => renumber(entries.slice(0, -1))), /has no end/],
]

test.each(plants)('finds %s', (_what, shape, plant, found) => {
  expect(audit(plant(evidenceOf(shape))).join('\n')).toMatch(found)
})

function evidenceOf(shape: Shape): Evidence {
  const evidence = honest.get(shape)
  if (!evidence) throw new Error(`There is no ${shape} run.`)
  return evidence
}

function withRows(change: (rows: RawRows) => Partial<RawRows>): Plant {
  return ({ rows, lines }) => ({ rows: { ...rows, ...change(rows) }, lines })
}

function withEntries(change: (entries: readonly RawEntry[]) => readonly RawEntry[]): Plant {
  return withRows(({ entries }) => ({ entries: change(entries) }))
}

function withLines(change: (lines: readonly LedgerLine[]) => readonly LedgerLine[]): Plant {
  return ({ rows, lines }) => ({ rows, lines: change(lines) })
}

/** The response of a tool is another one. */
function withResponse(tool: string, response: object): Plant {
  return withEntries((entries) =>
    entries.map((entry) => ({
      ...entry,
      body: JSON.parse(JSON.stringify(entry.body), (_, value) =>
        value?.name === tool && 'response' in value ? { ...value, response } : value,
      ),
    })),
  )
}

const holds = (entry: RawEntry, text: string): boolean => JSON.stringify(entry.body).includes(text)

function renumber(entries: readonly RawEntry[]): readonly RawEntry[] {
  return entries.map((entry, at) => ({ ...entry, seq: at + 1 }))
}

function without(entries: readonly RawEntry[], text: string): readonly RawEntry[] {
  return entries.filter((entry) => !holds(entry, text))
}

function repeat(entries: readonly RawEntry[], text: string): readonly RawEntry[] {
  return renumber(entries.flatMap((entry) => (holds(entry, text) ? [entry, entry] : [entry])))
}

function replaced(entries: readonly RawEntry[], text: string, by: string): readonly RawEntry[] {
  return entries.map((entry) => ({ ...entry, body: JSON.parse(JSON.stringify(entry.body).replace(text, by)) }))
}

function repeatLine(lines: readonly LedgerLine[], type: LedgerLine['type'], tool: string): readonly LedgerLine[] {
  return lines.flatMap((line) => (isOf(line, type, tool) ? [line, line] : [line]))
}

function withoutLine(lines: readonly LedgerLine[], type: LedgerLine['type'], tool: string): readonly LedgerLine[] {
  return lines.filter((line) => !isOf(line, type, tool))
}

function isOf(line: LedgerLine, type: LedgerLine['type'], tool: string): boolean {
  return line.type === type && 'tool' in line && line.tool === tool
}

function foreign(line: LedgerLine): LedgerLine {
  return 'key' in line ? { ...line, key: 'e-1/c1' } : line
}
