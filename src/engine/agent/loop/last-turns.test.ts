import { LlmAgent, LoopAgent, ParallelAgent, SequentialAgent } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import type { Content } from '../../../core/content/content.ts'
import type { Entry, Event } from '../../../core/event/event.ts'
import { AgentTree } from '../agents/agent-tree.ts'
import { randomLog, SCOPES, seeded } from './random-log.test-kit.ts'
import { SessionView } from './session-view.ts'
import { startsTurn } from './turns.ts'
import { fromCheckpoint, toCheckpoint } from './view-checkpoint.ts'

function treeWith(lastTurns: number): AgentTree {
  const agent = (name: string): LlmAgent => new LlmAgent({ name, model: scriptedModel([]), history: { lastTurns } })
  const beside = new ParallelAgent({ name: 'beside', subAgents: [agent('left'), agent('right')] })
  const again = new LoopAgent({ name: 'again', maxIterations: 2, subAgents: [agent('round')] })
  const flow = new SequentialAgent({ name: 'flow', subAgents: [beside, again] })
  const root = new LlmAgent({
    name: 'root',
    model: scriptedModel([]),
    subAgents: [agent('clerk'), flow],
    history: { lastTurns },
  })
  return new AgentTree(root, { plugins: [], resolveModel: () => expect.fail('no names here') })
}

function viewOf(entries: readonly Entry[], tree: AgentTree): SessionView {
  const view = new SessionView(tree)
  view.catchUp(entries)
  return view
}

const eventsOf = (entries: readonly Entry[]): Event[] => entries.flatMap(({ event }) => (event ? [event] : []))

/** The view that a run has: a checkpoint, the entries after it, and the entries since the start of the turns that are shown. */
function reopened(entries: readonly Entry[], cut: number, tree: AgentTree): SessionView {
  const before = entries.slice(0, cut)
  const stored = JSON.parse(JSON.stringify(toCheckpoint(viewOf(before, tree), tree)))
  const view = fromCheckpoint(tree, stored) ?? expect.fail('the checkpoint was ignored')
  view.catchUp(entries.slice(cut))
  view.prepend(eventsOf(before.filter(({ seq }) => seq >= (view.shownFrom?.seq ?? 1))))
  return view
}

const places = SCOPES.filter(({ isolationScope }) => isolationScope === undefined)

const shownBy = (view: SessionView, lastTurns: number): Content[][] =>
  places.map(({ author, branch }) => view.history(author, { path: '', branch }, { history: { lastTurns } }))

/** The ids of calls and responses, as far as they do not belong together. */
function unmatched(contents: readonly Content[]): unknown[] {
  return contents.flatMap(({ role, parts }, at): unknown[] => {
    const calls = parts.map((part) => part.functionCall?.id ?? part.executableCode?.id).filter(Boolean)
    const next = contents[at + 1]?.parts.map((part) => part.functionResponse?.id ?? part.codeExecutionResult?.id)
    if (role === 'tool') {
      const asked = contents[at - 1]?.parts.some(({ functionCall, executableCode }) => functionCall ?? executableCode)
      return asked ? [] : [['responses without calls', at]]
    }
    return role === 'model' && calls.length && JSON.stringify(calls) !== JSON.stringify(next) ? [[calls, next]] : []
  })
}

test('the latest turns are the same after a checkpoint as in the whole log, and no call is without its response', {
  timeout: 60_000,
}, () => {
  let fit = 0
  for (let seed = 1; seed <= 200; seed++) {
    const random = seeded(seed)
    const entries = randomLog(random, 5 + Math.floor(random() * 80))
    const lastTurns = 1 + Math.floor(random() * 4)
    const tree = treeWith(lastTurns)
    const whole = shownBy(viewOf(entries, tree), lastTurns)
    // a damaged log may have a message between a call and its response: then the whole history has it, too
    const uncut = shownBy(viewOf(entries, tree), Number.MAX_SAFE_INTEGER)
    const isFit = uncut.every((contents) => unmatched(contents).length === 0)
    if (isFit) fit++
    if (isFit) for (const contents of whole) expect(unmatched(contents), `seed ${seed}`).toEqual([])
    for (let at = 0; at < 4; at++) {
      const cut = Math.floor(random() * (entries.length + 1))
      const view = reopened(entries, cut, tree)
      expect(shownBy(view, lastTurns), `seed ${seed}, checkpoint after entry ${cut}`).toEqual(whole)
    }
  }
  expect(fit).toBeGreaterThan(100)
})

test('a history that follows the log equals a new one at each entry', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const entries = randomLog(seeded(seed), 60)
    const tree = treeWith(2)
    const following = new SessionView(tree)
    for (let at = 1; at <= entries.length; at++) {
      following.catchUp(entries.slice(0, at))
      const anew = viewOf(entries.slice(0, at), tree)
      expect(shownBy(following, 2), `seed ${seed}, entry ${at}`).toEqual(shownBy(anew, 2))
    }
  }
})

test('only the events of the latest turns are read again', () => {
  const entries = randomLog(seeded(3), 400)
  const tree = treeWith(3)
  const view = reopened(entries, 390, tree)
  const starts = eventsOf(entries).filter(startsTurn)
  expect(view.events[0]?.id).toBe(starts.at(-3)?.id)
  expect(view.eventCount).toBe(eventsOf(entries).length)
  expect(() => view.history('root', { path: 'root' })).toThrow('The history of agent "root" is not in memory.')
})

test.each<[unknown, string]>([
  [{ lastTurns: 0 }, 'history.lastTurns of agent "root" must be a whole number above 0, got 0.'],
  [{ lastTurns: 1.5 }, 'history.lastTurns of agent "root" must be a whole number above 0, got 1.5.'],
  [{ lastTurns: '5' }, 'history.lastTurns of agent "root" must be a whole number above 0'],
  [{}, 'history.lastTurns of agent "root" must be a whole number above 0, got undefined.'],
  [{ lastTurn: 5 }, 'history of agent "root"'],
  [5, 'history must be an object'],
])('history %j is refused when the agent is built', (history, message) => {
  const build = (): unknown => new LlmAgent({ name: 'root', history: history as never })
  expect(build).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining(message) }))
})
