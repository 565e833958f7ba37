// Hostile cases that must stay tested, by number. A test says which it tells at the end of its title: `... [DG-05]`. Each
// is told on every store there is, with the honest case beside it.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

interface Case {
  /** What must hold. */
  readonly says: string
  /** What of it waits for something that does not exist yet. */
  readonly later?: string
  /** All of it waits. */
  readonly isWaiting?: true
  /** A file that tells nothing else; its titles have no number. */
  readonly by?: string
}

const cases: { readonly [id: string]: Case } = {
  // calls, gates and answers
  'DG-01': { says: 'an unknown tool is an error result, no other tool hears of it, and the run goes on' },
  'DG-02': { says: 'before a decision nothing runs, one question is open, and the model is not asked' },
  'DG-03': { says: 'after a no nothing runs, whatever kind of tool it is', later: 'tools of MCP and of OpenAPI' },
  'DG-04': { says: 'a client can bring neither a question nor a call of its own' },
  'DG-05': { says: 'an answer counts for its own app, user and session only, equal call ids or not' },
  'DG-06': { says: 'one answer sent many times at once, from many processes, runs the call once' },
  'DG-07': { says: 'a call that a user claims a model has made is run by nobody' },
  'DG-08': {
    says: 'what a tool or another agent says approves nothing',
    later: 'A2A, MCP sampling and elicitation, webhooks',
  },
  'DG-09': { says: 'a model that calls the framework’s own names satisfies no gate' },
  'DG-10': { says: 'only a literal true is a yes; what cannot be read is a no with a reason' },
  'DG-11': { says: 'a second question about a call pauses again; a yes is for one question' },
  'DG-12': { says: 'an answer reaches the agent that asked, however deep, or is an error' },
  'DG-13': { says: 'two calls are taken for one exactly when their canonical JSON is equal' },
  'DG-14': {
    says: 'approvals make the round from a client and back',
    later: 'REST, SSE and WebSocket',
    isWaiting: true,
  },
  'DG-15': {
    says: 'names that every object has are names like any others, in every place',
    later: 'MCP frames and OpenAPI examples',
  },
  'DG-16': { says: 'a predicate that throws, hangs, answers nonsense or writes means: ask' },
  'DG-17': { says: 'a tool that is not the one that was asked about is asked about again' },
  'DG-18': { says: 'what was asked about is what runs; nobody asks the model again' },
  'DG-19': {
    says: 'the gate is the same from code, agent tools and branches',
    later: 'live sessions, tools served over MCP',
  },
  'DG-20': { says: 'a body that never ends or listens is answered at its deadline' },
  'DG-21': {
    says: 'whatever a body throws, the run survives',
    later: 'what is thrown in a timer a body left behind is the process’s own',
  },
  'DG-22': { says: 'a batch that is given up has one response for each call, in order' },
  'DG-23': { says: 'no result breaks the run or swells the log' },
  'DG-24': { says: 'no arguments but fitting ones reach a body, and no error repeats their values' },
  'DG-25': { says: 'a model that never stops is stopped, over pauses and inside other agents too' },
  // processes
  'PR-01': { says: 'a crash before or after any append loses nothing and repeats nothing', later: 'on Postgres' },
  'PR-02': {
    says: 'after kill -9 in a body each effect is treated as it was declared',
    by: 'test/scenarios/kill-effects.test.ts',
  },
  'PR-03': {
    says: 'the idempotency key is one for a call, whoever runs it, and nobody can guess it',
    later: 'the header of OpenAPI tools',
  },
  'PR-04': {
    says: 'after kills at random nothing is lost, doubled or orphaned',
    by: 'test/scenarios/kill-random.test.ts',
  },
  'PR-05': { says: 'a holder that comes back after its lease was taken writes nothing, and its body is told' },
  'PR-06': { says: 'many resumes at once go on with it once' },
  'PR-07': { says: 'what is over is told again, not done again' },
  'PR-08': { says: 'of many questions each answer finds its own call, in any order, over restarts' },
  'PR-09': { says: 'of long-running calls each is placed once and answered once' },
  'PR-10': { says: 'half a call is neither run nor stored' },
  'PR-11': { says: 'whatever the log holds, any provider takes the history made of it, and the log stays as it is' },
  'PR-12': { says: 'a cancel ends what waits or runs, once, and nothing that is over' },
  'PR-13': { says: 'a question expires by the clock, and a clock that is set back does not bring it back' },
  'PR-14': { says: 'no other tool or agent does what one that is gone was asked for' },
  'PR-15': {
    says: 'a result for a session that is gone brings nothing back',
    later: 'tools that go on in the background',
  },
}

const told = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'])
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file !== 'test/catalogue.test.ts')
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }))
  .flatMap(({ file, text }) => idsIn(text).map((id) => ({ id, file, isOnBoth: isOnEveryStore(text) })))

const listed = Object.entries(cases).map(([id, one]) => ({ id, ...one }))

describe.each(listed.filter(({ isWaiting }) => !isWaiting))('$id: $says', ({ id, by }) => {
  if (by) test(`is what ${by} tells`, () => expect(existsSync(by)).toBe(true))
  else
    test('is told on every store', () => {
      expect(told.filter((one) => one.id === id && one.isOnBoth)).not.toEqual([])
    })
})

test('no title names a case that is not listed', () => {
  expect(told.filter(({ id }) => !Object.hasOwn(cases, id))).toEqual([])
})

test('ids are read from the ends of titles, and stores from what a file goes through', () => {
  const text = `describe.each(stores)('%s', () => { test('a [DG-01]', f); test("b [DG-02, PR-03]", f) }) // [DG-04]`
  expect(idsIn(text)).toEqual(['DG-01', 'DG-02', 'PR-03'])
  expect(isOnEveryStore(text)).toBe(true)
  expect(isOnEveryStore("test('a [DG-01]', f)")).toBe(false)
})

function idsIn(text: string): string[] {
  return [...text.matchAll(/\[((?:(?:DG|PR)-\d\d(?:, )?)+)\](?=['"`])/g)].flatMap(([, ids = '']) => ids.split(', '))
}

function isOnEveryStore(text: string): boolean {
  return /describe\.each\((?:stores|clockedStores|Object\.entries\(places\))\)/.test(text)
}
