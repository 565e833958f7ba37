// Hostile cases that must stay tested. A test names its cases at the end of its title: `... [DG-05]`. Each case is tested on
// every store, with a valid case beside it. Parts that need a server or a transport name the file that tests them.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

interface Case {
  /** What the tests of the case must show. */
  readonly rule: string
  /** Parts of the case that have no test yet, because what they need does not exist. */
  readonly later?: string
  /** Further parts of the case, each with the file that tests it. */
  readonly also?: { readonly [part: string]: string }
  /** A file that tests only this case; its titles have no number. */
  readonly by?: string
}

const cases: { readonly [id: string]: Case } = {
  // calls, gates and answers
  'DG-01': { rule: 'an unknown tool is an error result, calls no other tool, and the run continues' },
  'DG-02': { rule: 'before a decision no body runs, one request is pending, and the model is not asked' },
  'DG-03': {
    rule: 'after a denial no body runs, for every kind of tool',
    also: {
      'tools of MCP servers': 'test/scenarios/approvals-remote.test.ts',
      'tools of OpenAPI documents': 'test/scenarios/openapi.test.ts',
    },
  },
  'DG-04': { rule: 'a client cannot send a request or a call of its own' },
  'DG-05': { rule: 'an answer counts only for its own app, user and session, even with equal call ids' },
  'DG-06': { rule: 'one answer that many processes send at the same time runs the call once' },
  'DG-07': { rule: 'a call that a user claims a model has made does not run' },
  'DG-08': {
    rule: 'text of a tool or of another agent approves nothing',
    later: 'A2A, webhooks',
    also: { 'MCP sampling and elicitation': 'test/scenarios/mcp-questions.test.ts' },
  },
  'DG-09': { rule: 'a model that calls reserved names of the framework satisfies no gate' },
  'DG-10': { rule: 'only a literal true approves; an unreadable answer denies with a reason' },
  'DG-11': { rule: 'a second request about a call pauses again; an approval answers one request' },
  'DG-12': { rule: 'an answer reaches the nested agent that asked, or is an error' },
  'DG-13': { rule: 'two calls are equal exactly when their canonical JSON is equal' },
  'DG-14': {
    rule: 'approvals travel to a client and back',
    also: {
      REST: 'src/apps/server/routes/answer.test.ts',
      SSE: 'src/apps/server/routes/run.test.ts',
      WebSocket: 'src/apps/server/live/serve-live.test.ts',
    },
  },
  'DG-15': {
    rule: 'names such as constructor and __proto__ are ordinary names everywhere',
    also: {
      'names of MCP tools': 'test/scenarios/mcp-hostile-listings.test.ts',
      'OpenAPI documents': 'src/adapters/openapi/document/hostile.test.ts',
    },
  },
  'DG-16': { rule: 'a predicate that throws, hangs, returns no boolean or writes state requires a confirmation' },
  'DG-17': { rule: 'a tool that changed after the approval needs a new approval' },
  'DG-18': { rule: 'the approved call runs as it was shown, and the model is not asked again' },
  'DG-19': {
    rule: 'the gate also holds for calls from code, agent tools and branches',
    also: {
      'live sessions': 'test/scenarios/live-gates.test.ts',
      'tools served over MCP': 'src/adapters/mcp/serve/serve-mcp.test.ts',
    },
  },
  'DG-20': { rule: 'a body that never ends and ignores its signal is answered at its deadline' },
  'DG-21': {
    rule: 'the run survives every value that a body throws',
    later: 'errors thrown in a timer that a body left behind belong to the process',
  },
  'DG-22': { rule: 'a cancelled batch has one response for each call, in order' },
  'DG-23': { rule: 'no result breaks the run or exceeds the size limits of the log' },
  'DG-24': { rule: 'only valid arguments reach a body, and no error repeats their values' },
  'DG-25': { rule: 'a model that never stops calling tools is stopped, across pauses and inside other agents' },
  // processes
  'PR-01': { rule: 'a crash before or after any append loses nothing and repeats nothing', later: 'on Postgres' },
  'PR-02': {
    rule: 'after kill -9 in a body each call is treated as its effect declares',
    by: 'test/scenarios/kill-effects.test.ts',
  },
  'PR-03': {
    rule: 'a call has one idempotency key in every process, and the key cannot be guessed',
    also: { 'the header of OpenAPI tools': 'src/adapters/openapi/openapi-toolset.test.ts' },
  },
  'PR-04': {
    rule: 'after random kills no call is lost, doubled or orphaned',
    by: 'test/scenarios/kill-random.test.ts',
  },
  'PR-05': { rule: 'a holder that lost its lease writes nothing, and its body sees an aborted signal' },
  'PR-06': { rule: 'many resumes at the same time continue the run once' },
  'PR-07': { rule: 'resuming completed work replays its events and runs nothing' },
  'PR-08': { rule: 'each of many answers reaches its own call, in any order, across restarts' },
  'PR-09': { rule: 'each long-running call starts once and gets one response' },
  'PR-10': { rule: 'a call that is cut off neither runs nor is stored' },
  'PR-11': { rule: 'every provider accepts the history of every log, and the log stays unchanged' },
  'PR-12': { rule: 'a cancel ends pending and running work once, and leaves completed work alone' },
  'PR-13': { rule: 'a request expires by the clock, and setting the clock back does not reopen it' },
  'PR-14': { rule: 'no other tool or agent does the work of a removed one' },
  'PR-15': { rule: 'a result for a deleted session restores nothing' },
}

const tested = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'])
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file !== 'test/catalogue.test.ts')
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }))
  .flatMap(({ file, text }) => idsIn(text).map((id) => ({ id, file, runsOnEveryStore: isOnEveryStore(text) })))

const listed = Object.entries(cases).map(([id, one]) => ({ id, ...one }))

describe.each(listed)('$id: $rule', ({ id, by, also = {} }) => {
  if (by) test(`is tested by ${by}`, () => expect(existsSync(by)).toBe(true))
  else
    test('is tested on every store', () => {
      expect(tested.filter((one) => one.id === id && one.runsOnEveryStore)).not.toEqual([])
    })
  for (const [part, file] of Object.entries(also))
    test(`is tested for ${part} by ${file}`, () => {
      expect(tested.filter((one) => one.id === id && one.file === file)).not.toEqual([])
    })
})

test('every case id in a test title is in the catalogue', () => {
  expect(tested.filter(({ id }) => !Object.hasOwn(cases, id))).toEqual([])
})

test('the catalogue reads case ids from the ends of titles, and stores from describe.each', () => {
  const text = `describe.each(stores)('%s', () => { test('a [DG-01]', f); test("b [DG-02, PR-03]", f) }) // [DG-04]`
  expect(idsIn(text)).toEqual(['DG-01', 'DG-02', 'PR-03'])
  expect(isOnEveryStore(text)).toBe(true)
  expect(isOnEveryStore("test('a [DG-01]', f)")).toBe(false)
})

function idsIn(text: string): string[] {
  return [...text.matchAll(/\[((?:(?:DG|PR)-\d\d(?:, )?)+)\](?=['"`])/g)].flatMap(([, ids = '']) => ids.split(', '))
}

function isOnEveryStore(text: string): boolean {
  return /describe\.each\((?:stores|clockedStores|Object\.entries\(storages\))\)/.test(text)
}
