import { expect, test } from 'vitest'

interface Row {
  readonly what: string
  readonly over: boolean
}
type Median = (adapter: string, scenario: string, metric: string) => number | undefined

// The harness is plain JavaScript without dependencies, so that it runs before anything is installed.
const { checkLimits } = (await import(String(new URL('../bench/limits.mjs', import.meta.url)))) as {
  checkLimits(median: Median, options?: { scenarios?: readonly string[]; guard?: boolean }): Row[]
}

const good: Record<string, number> = {
  'S4 late': 2,
  'S4 early': 2,
  'S8 ms': 80,
  'S8 packages': 3,
  'S8 diskMB': 2,
  'S9 ms': 21,
  'S10 ms': 6,
}
const measured =
  (changed: Record<string, number | undefined> = {}): Median =>
  (adapter, scenario, metric) => {
    const key = `${scenario} ${metric}`
    return adapter === 'toolwright' ? { ...good, [key]: good[key] ?? 1, ...changed }[key] : key === 'S8 ms' ? 70 : 1
  }
const over = (median: Median, options?: Parameters<typeof checkLimits>[1]): string[] =>
  checkLimits(median, options)
    .filter((row) => row.over)
    .map(({ what }) => what)

test('the benchmark accepts results within every limit', () => expect(over(measured())).toEqual([]))

test.each([
  ['S1 us', 8.1, 'S1 one call, times the floor'],
  ['S2 us', 6.1, 'S2 8 parallel calls, times the floor'],
  ['S1k us', 9.1, 'S1k one call, sessions kept, times the floor'],
  ['S2k us', 7.6, 'S2k 8 parallel calls, sessions kept, times the floor'],
  ['S3 us', 7.1, 'S3 50-call chain, times the floor'],
  ['S3 late', 1.2, 'S3 steps 41-50 over steps 1-10'],
  ['S4 late', 2.5, 'S4 turns 181-200 over turns 41-60'],
  ['S5 us', 1.2, 'S5 1,000 tools, times our own S1'],
  ['S5 setupMs', 8.1, 'S5 set-up with 1,000 tools, ms'],
  ['S6 ms', 4.6, 'S6 1,000 concurrent, times the floor'],
  ['S7 us', 3.1, 'S7 streaming a delta, times the floor'],
  ['S8 ms', 81, 'S8 import, ms over bare Node'],
  ['S8 packages', 5, 'S8 packages installed'],
  ['S8 diskMB', 6.1, 'S8 MB installed'],
  ['S9 ms', 23, 'S9 8 tools of 20 ms, ms'],
  ['S10 ms', 6.1, 'S10 first turn of a process, ms over the floor'],
])('the benchmark reports %s at %d as over its limit', (metric, value, what) => {
  expect(over(measured({ [metric]: value }))).toEqual([what])
})

test('the benchmark reports slow late turns even if turns do not slow down over a session', () => {
  expect(over(measured({ 'S4 late': 11, 'S4 early': 11 }))).toEqual(['S4 turns 181-200, times the floor'])
})

test('the benchmark reports a missing result, unless its scenario was not selected', () => {
  expect(over(measured({ 'S7 us': undefined }))).toEqual(['S7 streaming a delta, times the floor'])
  expect(over(measured({ 'S7 us': undefined }), { scenarios: ['S1', 'S5'] })).toEqual([])
})

test('the guard reports a ratio over 1.5 times its limit, a larger package and a missing result, and judges no milliseconds', () => {
  const guarded = (changed: Record<string, number | undefined>): string[] => over(measured(changed), { guard: true })
  expect(guarded({ 'S2 us': 9, 'S8 ms': 100, 'S10 ms': 100 })).toEqual([])
  expect(guarded({ 'S2 us': 9.1 })).toEqual(['S2 8 parallel calls, times the floor'])
  expect(guarded({ 'S8 diskMB': 6.1 })).toEqual(['S8 MB installed'])
  expect(guarded({ 'S10 ms': undefined })).toEqual(['S10 first turn of a process, ms over the floor'])
})

const { checkServerLimits } = (await import(String(new URL('../bench/server-limits.mjs', import.meta.url)))) as {
  checkServerLimits(measured: object): Row[]
}
const server = {
  some: { firstP99: 300, lastP99: 300, errors: 0 },
  many: { firstP99: 1_500, lastP99: 1_500, errors: 0, rssMB: 700 },
  single: { lastP50: 1.2, runnerMs: 0.2 },
}
const overServer = (measured: object): string[] =>
  checkServerLimits({ ...server, ...measured })
    .filter((row) => row.over)
    .map(({ what }) => what)

test('the server benchmark accepts results at its limits', () => expect(overServer({})).toEqual([]))

test.each([
  [{ some: { ...server.some, firstP99: 301 } }, '200 concurrent runs, first event, p99 ms'],
  [{ some: { ...server.some, errors: 1 } }, '200 concurrent runs, errors'],
  [{ many: { ...server.many, firstP99: 1_501 } }, '1,000 concurrent runs, first event, p99 ms'],
  [{ many: { ...server.many, errors: 1 } }, '1,000 concurrent runs, errors'],
  [{ many: { ...server.many, rssMB: undefined } }, '1,000 concurrent runs, memory of the server, MB'],
  [{ single: { lastP50: 1.3, runnerMs: 0.2 } }, 'one turn, /run_sse over the runner, p50 ms'],
])('the server benchmark reports %j as over its limit', (measured, what) => {
  expect(overServer(measured)).toEqual([what])
})

const { checkAttackLimits } = (await import(String(new URL('../bench/attack-limits.mjs', import.meta.url)))) as {
  checkAttackLimits(attack: string, measured: object): Row[]
}

test('the attacks on the server are over their limit at 250 ms, one failed turn or 1,000 MB', () => {
  const over = (measured: object): string[] =>
    checkAttackLimits('keys', { p99: 250, errors: 0, rssMB: 1_000, ...measured })
      .filter((row) => row.over)
      .map(({ what }) => what)
  expect(over({})).toEqual([])
  expect(over({ p99: 251 })).toEqual(['keys: turns of another user, p99 ms'])
  expect(over({ errors: 1 })).toEqual(['keys: failed turns of another user'])
  expect(over({ rssMB: undefined })).toEqual(['keys: memory of the server, MB'])
})

const { checkPageLimits } = (await import(String(new URL('../bench/page-limits.mjs', import.meta.url)))) as {
  checkPageLimits(measured: object): Row[]
}
const list = { longestTaskMs: 200, longestGapMs: 200, nodes: 5_000 }
const run = { streamingMs: 100, timelineMs: 100, nodes: 15_000 }
const page = { start: { firstPaintMs: 1_000, shownMs: 2_000, bytes: 350_000 }, chat: list, log: list, run }
const overPage = (measured: object): string[] =>
  checkPageLimits({ ...page, ...measured })
    .filter((row) => row.over)
    .map(({ what }) => what)

test('the page benchmark accepts results at its limits', () => expect(overPage({})).toEqual([]))

test.each([
  [{ start: { ...page.start, firstPaintMs: 1_001 } }, 'first paint from a cold server, ms'],
  [{ start: { ...page.start, firstPaintMs: undefined } }, 'first paint from a cold server, ms'],
  [{ start: { ...page.start, bytes: 350_001 } }, 'bytes of the page'],
  [{ chat: { ...list, longestTaskMs: 201 } }, 'chat of 100,000 events, longest block while reading and scrolling, ms'],
  [{ log: { ...list, longestGapMs: 201 } }, 'log of 100,000 events, longest block while reading and scrolling, ms'],
  [{ log: { ...list, nodes: 5_001 } }, 'log of 100,000 events, most DOM nodes'],
  [{ run: { ...run, streamingMs: 101 } }, 'run of 5,000 steps, longest block while it streams, ms'],
  [
    { run: { ...run, timelineMs: undefined } },
    'run of 5,000 steps, longest block while its timeline opens and is read, ms',
  ],
])('the page benchmark reports %j as over its limit', (measured, what) => {
  expect(overPage(measured)).toEqual([what])
})

const { checkStoreLimits } = (await import(String(new URL('../bench/store-limits.mjs', import.meta.url)))) as {
  checkStoreLimits(store: string, samples: object): Row[]
}
const samples = {
  'turn short': [10, 20],
  'turn long': [20, 40],
  'append short': [100, 50],
  'append long': [120, 60],
  stored: [1.3],
  resume: [50],
  'commits none': [4],
  'commits other': [5],
  'idle MB': [5],
  'idle growth MB': [1],
  'rate share normal': [0.6],
  'rate share full': [0.6],
  'rate share 16 clients': [0.6],
}
const overStore = (store: string, measured: object = {}): string[] =>
  checkStoreLimits(store, { ...samples, ...measured })
    .filter((row) => row.over)
    .map(({ what }) => what)

test('the store benchmark accepts results at its limits', () => {
  expect(overStore('sqlite')).toEqual([])
  expect(overStore('postgres', { resume: [80] })).toEqual([])
})

test.each([
  ['sqlite', { 'turn long': [21, 42] }, 'turn after reopening, long over short'],
  ['sqlite', { 'append long': undefined }, 'append, long over short'],
  ['sqlite', { stored: [1.31] }, 'run paused after 20 calls of 50 kB, bytes stored over content'],
  ['sqlite', { resume: [51] }, 'resume of the paused run in another process, ms'],
  ['sqlite', { 'commits none': [5] }, 'commits of a turn with one call, effect "none"'],
  ['postgres', { 'commits other': [6] }, 'commits of a turn with one call, other effects'],
  ['postgres', { 'idle growth MB': [1.1] }, 'worker beside idle paused sessions, MB after 200 more looks'],
  ['sqlite', { 'rate share full': [0.59] }, 'appends, FULL, of the rate of a bare insert loop'],
  ['postgres', { 'rate share 16 clients': undefined }, 'appends, 16 clients, of the rate of a bare insert loop'],
])('the store benchmark reports on %s %j as over its limit', (store, measured, what) => {
  expect(overStore(store, measured)).toEqual([what])
})

const { checkFleetLimits } = (await import(String(new URL('../bench/fleet-limits.mjs', import.meta.url)))) as {
  checkFleetLimits(samples: object): Row[]
}
const fleet = {
  'turn own': [10],
  'turn fleet': [25],
  'compute 2': [60],
  'compute 3': [61],
  'hold 2': [50],
  'hold 3': [70],
  'idle MB': [5],
}
const overFleet = (measured: object = {}): string[] =>
  checkFleetLimits({ ...fleet, ...measured })
    .filter((row) => row.over)
    .map(({ what }) => what)

test('the fleet benchmark accepts results at its limits', () => expect(overFleet()).toEqual([]))

test.each([
  [{ 'turn fleet': [25.1] }, 'turn, Restate and Postgres minus Postgres, ms'],
  [{ 'hold 3': [69] }, 'sessions per second that hold their worker for 20 ms, 3 workers over 2'],
  [{ 'idle MB': undefined }, 'heap of a worker beside paused sessions minus before, MB'],
])('the fleet benchmark reports %j as over its limit', (measured, what) => {
  expect(overFleet(measured)).toEqual([what])
})
