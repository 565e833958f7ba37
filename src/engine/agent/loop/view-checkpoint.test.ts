import { agentTool, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import type { Entry, Event } from '../../../core/event/event.ts'
import { AgentTree } from '../agents/agent-tree.ts'
import { CALL_IDS, REQUEST_IDS, randomLog, SCOPES, seeded } from './random-log.test-kit.ts'
import { SessionView } from './session-view.ts'
import { fromCheckpoint, toCheckpoint, type ViewCheckpoint } from './view-checkpoint.ts'

const treeOf = (agent: ConstructorParameters<typeof AgentTree>[0]): AgentTree =>
  new AgentTree(agent, { plugins: [], resolveModel: () => expect.fail('no names here') })

/** The agents of the random logs. */
function build(): LlmAgent {
  const model = scriptedModel([])
  const agent = (name: string): LlmAgent => new LlmAgent({ name, model })
  const beside = new ParallelAgent({ name: 'beside', subAgents: [agent('left'), agent('right')] })
  const again = new LoopAgent({ name: 'again', maxIterations: 2, subAgents: [agent('round')] })
  const flow = new SequentialAgent({ name: 'flow', subAgents: [beside, again] })
  return new LlmAgent({ name: 'root', model, tools: [agentTool(agent('inner'))], subAgents: [agent('clerk'), flow] })
}

const tree = treeOf(build())

function viewOf(entries: readonly Entry[], agents = tree): SessionView {
  const view = new SessionView(agents)
  view.catchUp(entries)
  return view
}

/** The checkpoint as a store returns it. */
const stored = (view: SessionView): ViewCheckpoint => JSON.parse(JSON.stringify(toCheckpoint(view, tree)))

const eventsOf = (entries: readonly Entry[]): Event[] => entries.flatMap(({ event }) => (event ? [event] : []))

/** Everything that a run reads of a view. */
function described(view: SessionView): unknown {
  const { latest, open } = view.stored
  const folds = [...open, ...(latest ? [latest] : [])]
  const ids = (calls: readonly { id: string }[]): string[] => calls.map(({ id }) => id)
  return {
    checkpoint: stored(view),
    open: view.open().map(({ fold, step }) => [fold.invocationId, JSON.stringify(step, withoutAgents)]),
    awake: view.awake().map(({ fold }) => fold.invocationId),
    known: [...CALL_IDS, ...REQUEST_IDS, 'x1'].filter((id) => view.hasId(id)),
    folds: folds.map((fold) => ({
      open: ids(fold.openCalls()),
      waiting: ids(fold.waitingCalls()),
      isWaiting: fold.isWaiting,
      failed: [...fold.calls.values()].map((call) => fold.failedInARow(call)),
      requests: REQUEST_IDS.map((id) => fold.request(id)?.seq),
      started: SCOPES.flatMap(({ nodeInfo }) =>
        nodeInfo?.path.split('/').map((_, at, all) => fold.hasStarted(all.slice(0, at + 1).join('/'))),
      ),
      scoped: CALL_IDS.filter((id) => fold.scopedCalls?.has(id)),
      replies: SCOPES.map(({ isolationScope }) => fold.lastReplyIn(isolationScope ?? '')?.id),
    })),
    histories: SCOPES.map(({ author, isolationScope, branch }) =>
      view.history(author, { path: '', isolation: isolationScope, branch }),
    ),
  }
}

const withoutAgents = (key: string, value: unknown): unknown => (key === 'agent' ? undefined : value)

/** Cuts a log at each entry. A view that continues a checkpoint must equal the view of the whole log. */
function expectEqualAtEachCut(entries: readonly Entry[], cuts: readonly number[]): void {
  const whole = described(viewOf(entries))
  for (const cut of cuts) {
    const before = entries.slice(0, cut)
    const view = fromCheckpoint(tree, stored(viewOf(before))) as SessionView
    expect(view.events).toEqual([])
    view.catchUp(entries.slice(cut))
    view.prepend(eventsOf(before))
    expect(described(view), `cut after entry ${cut}`).toEqual(whole)
  }
}

test('a view that continues a checkpoint equals the view of the whole log, for random logs', {
  timeout: 60_000,
}, () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = seeded(seed)
    const entries = randomLog(random, 5 + Math.floor(random() * 60))
    const cuts = Array.from({ length: 5 }, () => Math.floor(random() * (entries.length + 1)))
    expectEqualAtEachCut(entries, cuts)
  }
})

test('a checkpoint is ignored if its version, its agents or its content do not fit', () => {
  const checkpoint = stored(viewOf(randomLog(seeded(7), 40)))
  expect(fromCheckpoint(tree, checkpoint)).toBeDefined()
  expect(fromCheckpoint(tree, { ...checkpoint, version: 2 as never })).toBeUndefined()
  expect(fromCheckpoint(tree, { ...checkpoint, open: undefined as never })).toBeUndefined()
  expect(fromCheckpoint(treeOf(new LlmAgent({ name: 'other', model: scriptedModel([]) })), checkpoint)).toBeUndefined()
  const [scope, ...more] = checkpoint.latest?.scopes ?? []
  const latest = { ...checkpoint.latest, scopes: [{ ...scope, calls: ['none'] }, ...more] } as never
  expect(fromCheckpoint(tree, { ...checkpoint, latest })).toBeUndefined()
})

test('a view takes 200,000 events from before its checkpoint', () => {
  const view = viewOf(randomLog(seeded(7), 40))
  const [first] = view.events
  const count = view.events.length
  view.prepend(new Array(200_000).fill(first))
  expect([view.events.length, view.events.at(-count)]).toEqual([200_000 + count, first])
})
