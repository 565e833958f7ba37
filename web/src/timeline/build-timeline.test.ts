import {
  agentTool,
  approve,
  confirm,
  deny,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  Runner,
  respond,
  retry,
  SequentialAgent,
  ToolError,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import type { Entry } from '../../../src/core/event/event.ts'
import type { Agent } from '../../../src/engine/agent/agents/agent.ts'
import { buildTimeline } from './build-timeline.ts'
import { compareTimelines } from './compare-timelines.ts'
import { statusText } from './describe-step.ts'
import { listInvocations } from './list-invocations.ts'
import { timeScale, workOf } from './time-scale.ts'
import type { Timeline } from './timeline.ts'

const START = 1_000_000_000_000
const clock = { now: START }
function takes(ms: number): void {
  clock.now += ms
}

/** A model whose replies take 100 ms each. */
function model(steps: readonly Exclude<Parameters<typeof scriptedModel>[0][number], (...args: never) => unknown>[]) {
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 }
  return scriptedModel(
    steps.map((step) => () => {
      takes(100)
      return typeof step === 'string'
        ? { text: step, response: { usageMetadata } }
        : { response: { usageMetadata }, ...step }
    }),
  )
}

function timed(name: string, ms: number) {
  const parameters = { type: 'object', properties: { amount: { type: 'number' } } } as const
  return tool({
    name,
    description: name,
    parameters,
    run: ({ amount }) => {
      takes(ms)
      if (amount === 13) throw new ToolError('unlucky')
      return { amount: amount ?? 0 }
    },
  })
}

/** Runs a message with a clock of its own. Pending requests are answered one hour later. */
async function log(agent: Agent, options: { deny?: boolean } = {}): Promise<readonly Entry[]> {
  clock.now = START
  const runner = new Runner({ appName: 'test', agent, ports: { now: () => clock.now } })
  const userId = 'ada'
  let done = await runner.complete({ userId, message: 'Go' })
  const { sessionId } = done
  while (done.pending.length > 0) {
    takes(3_600_000)
    const answers = done.pending.map((request) => {
      if (request.kind !== 'confirmation') return respond(request, 'yes')
      return options.deny ? deny(request, { reason: 'too much' }) : approve(request)
    })
    done = await runner.complete({ userId, sessionId, message: answers })
  }
  const page = await runner.sessionService.readLog?.({ appName: 'test', userId, sessionId, fromSeq: 1, limit: 1000 })
  await runner.close()
  return page?.entries ?? []
}

function timelineOf(entries: readonly Entry[], options = { now: clock.now, isRunning: false }): Timeline {
  const id = listInvocations(entries).at(-1)?.id ?? ''
  const timeline = buildTimeline(entries, id, options)
  if (!timeline) throw new Error('The log has no invocation.')
  return timeline
}

/** Each step as `name from-to`, in milliseconds after the start. */
const times = ({ steps, start }: Timeline): string[] =>
  steps.map(({ name, from, to }) => `${name} ${from - start}-${to - start}`)

const refund = (): Agent =>
  new LlmAgent({
    name: 'desk',
    model: model([{ calls: [{ name: 'refund', args: { amount: 5 } }] }, 'Done.']),
    tools: [confirm(timed('refund', 50), 'Refund?')],
  })

describe('the timeline of an invocation', () => {
  test('shows model calls and tool calls one after another, with tokens', async () => {
    const timeline = timelineOf(
      await log(
        new LlmAgent({
          name: 'desk',
          model: model([{ calls: [{ name: 'look', args: {} }] }, 'Hi']),
          tools: [timed('look', 30)],
        }),
      ),
    )
    expect(times(timeline)).toEqual(['Model call 0-100', 'look 100-130', 'Model call 130-230'])
    expect(timeline).toMatchObject({
      message: 'Go',
      totals: { modelCalls: 2, toolCalls: 1, inputTokens: 20, durationMs: 230 },
    })
    expect(timeline.lanes.map(({ label, steps }) => [label, steps.length])).toEqual([
      ['desk', 2],
      ['look', 1],
    ])
  })

  test('tells waiting for an approval from work', async () => {
    const { steps, totals, marks, start } = timelineOf(await log(refund()))
    const call = steps.find(({ kind }) => kind === 'tool')
    expect(call).toMatchObject({ status: 'done', waits: [{ kind: 'confirmation', answer: 'approved' }] })
    expect(call && [call.from - start, call.to - start]).toEqual([100, 3_600_150])
    expect(totals).toMatchObject({ waitingMs: 3_600_000, durationMs: 3_600_250 })
    expect(marks.map(({ kind, label }) => `${kind} ${label}`)).toEqual(['message Go', 'answer refund: approved'])
  })

  test('names the reason of a denial and marks the call as failed', async () => {
    const { steps } = timelineOf(await log(refund(), { deny: true }))
    expect(steps[1]).toMatchObject({ status: 'failed', waits: [{ answer: 'denied: too much' }] })
  })

  test('a call whose body never ran has no work: while it waits beside a slow call, and after a denial', async () => {
    const paying = (): LlmAgent =>
      new LlmAgent({
        name: 'desk',
        model: model([
          {
            calls: [
              { name: 'refund', args: {} },
              { name: 'slow', args: {} },
            ],
          },
          'Done',
        ]),
        tools: [confirm(timed('refund', 50), 'Refund?'), timed('slow', 700)],
      })
    const waiting = await log(paying())
    const asked = waiting.findIndex(({ record }) => record?.type === 'request')
    const open = timelineOf(waiting.slice(0, asked + 2), { now: START + 10_000, isRunning: false })
    const held = open.steps.find(({ name }) => name === 'refund')
    expect(held).toMatchObject({ status: 'waiting', gate: 'held' })
    expect(held && workOf(held)).toEqual([])
    const denied = timelineOf(await log(paying(), { deny: true })).steps.find(({ name }) => name === 'refund')
    expect(denied).toMatchObject({ status: 'failed', gate: 'denied' })
    expect(denied && workOf(denied)).toEqual([])
    expect(denied && statusText(denied)).toBe('denied')
    const approved = timelineOf(waiting).steps.find(({ name }) => name === 'refund')
    expect(approved).toMatchObject({ status: 'done', gate: 'passed' })
    expect(approved && workOf(approved).map(({ from, to }) => to - from)).toEqual([50])
  })

  test('extends an open request until now, and an interrupted call only to the last event', async () => {
    const entries = await log(refund())
    const asked = entries.findIndex(({ record }) => record?.type === 'request')
    const now = START + 10_000
    const open = timelineOf(entries.slice(0, asked + 2), { now, isRunning: false })
    expect(open.steps.at(-1)).toMatchObject({ status: 'waiting', to: now })
    const cut = timelineOf(entries.slice(0, asked), { now, isRunning: false })
    expect(cut.steps.at(-1)).toMatchObject({ status: 'interrupted', to: START + 100 })
    const running = timelineOf(entries.slice(0, 1), { now, isRunning: true })
    expect(running.steps).toMatchObject([{ kind: 'model', status: 'running', from: START, to: now }])
  })

  test('counts the attempts of a call that the model repeats after an error', async () => {
    const call = (amount: number) => ({ calls: [{ name: 'pay', args: { amount } }] })
    const { steps } = timelineOf(
      await log(new LlmAgent({ name: 'desk', model: model([call(13), call(5), 'Paid']), tools: [timed('pay', 10)] })),
    )
    const calls = steps.filter(({ kind }) => kind === 'tool')
    expect(calls).toMatchObject([
      { attempt: 1, status: 'failed', error: 'unlucky' },
      { attempt: 2, status: 'done' },
    ])
  })

  test('has the failed attempts of retry(), and counts no round of a loop as an attempt', async () => {
    const errors = ['down', 'still down']
    const look = tool({
      name: 'look',
      description: 'Looks',
      effect: 'none',
      run: () => {
        takes(10)
        const error = errors.shift()
        if (error) throw new ToolError(error)
        return 'found'
      },
    })
    const call = { calls: [{ name: 'look' }] }
    const tools = [retry(look, { attempts: 3, delayMs: 0 })]
    const desk = new LlmAgent({ name: 'desk', model: model([call, 'One', call, 'Two']), tools })
    const agent = new LoopAgent({ name: 'loop', subAgents: [desk], maxIterations: 2 })
    const { steps } = timelineOf(await log(agent))
    const calls = steps.filter(({ kind }) => kind === 'tool')
    const failed = [
      { attempt: 1, attempts: 3, error: 'down' },
      { attempt: 2, attempts: 3, error: 'still down' },
    ]
    expect(calls).toMatchObject([
      { attempt: 3, failedAttempts: failed },
      { attempt: 1, failedAttempts: [] },
    ])
    expect(calls.map(statusText)).toEqual(['done, attempt 3', 'done'])
  })

  test('puts parallel calls of one tool into rows of their own', async () => {
    const calls = [
      { name: 'look', args: { amount: 1 } },
      { name: 'look', args: { amount: 2 } },
    ]
    const { lanes } = timelineOf(
      await log(new LlmAgent({ name: 'desk', model: model([{ calls }, 'Hi']), tools: [timed('look', 30)] })),
    )
    expect(lanes.map(({ label, kind }) => `${kind} ${label}`)).toEqual(['agent desk', 'tool look', 'tool look'])
  })

  test('ends each parallel call at its own time', async () => {
    const ended = Promise.withResolvers<void>()
    const quick = tool({
      name: 'quick',
      description: 'quick',
      run: async () => {
        takes(30)
        setImmediate(ended.resolve)
      },
    })
    const slow = tool({
      name: 'slow',
      description: 'slow',
      run: async () => {
        await ended.promise
        takes(200)
      },
    })
    const calls = [{ name: 'quick' }, { name: 'slow' }]
    const timeline = timelineOf(
      await log(new LlmAgent({ name: 'desk', model: model([{ calls }, 'Hi']), tools: [quick, slow] })),
    )
    expect(times(timeline)).toEqual(['Model call 0-100', 'quick 100-130', 'slow 100-330', 'Model call 330-430'])
  })

  test('starts parallel agents at the same time, and puts agents below the agent that calls them', async () => {
    const child = (name: string) => new LlmAgent({ name, description: name, model: model([`from ${name}`]) })
    const both = new ParallelAgent({ name: 'both', subAgents: [child('left'), child('right')] })
    const parallel = timelineOf(await log(both))
    expect(parallel.steps.map(({ agent, from }) => [agent, from - START])).toEqual([
      ['left', 0],
      ['right', 0],
    ])
    const desk = new LlmAgent({
      name: 'desk',
      model: model([{ calls: [{ name: 'helper', args: { request: 'x' } }] }, 'Hi']),
      tools: [agentTool(child('helper'))],
    })
    const nested = timelineOf(await log(desk))
    expect(nested.lanes.map(({ label, depth }) => [label, depth])).toEqual([
      ['desk', 0],
      ['helper', 0],
      ['helper', 1],
    ])
  })

  test('has a row for each workflow agent, above the rows of its agents, and the rows of an agent tool below those of its tool', async () => {
    const child = (name: string) => new LlmAgent({ name, description: name, model: model([name, name]) })
    const calls = [{ name: 'helper', args: { request: 'x' } }, { name: 'look' }]
    const caller = new LlmAgent({
      name: 'caller',
      model: model([{ calls }, 'Hi']),
      tools: [agentTool(child('helper')), timed('look', 5)],
    })
    const loop = new LoopAgent({ name: 'polish', maxIterations: 2, subAgents: [child('writer')] })
    const { lanes } = timelineOf(await log(new SequentialAgent({ name: 'pipeline', subAgents: [caller, loop] })))
    expect(lanes.map(({ label, kind, depth, steps }) => [depth, kind, label, steps.length])).toEqual([
      [0, 'agent', 'pipeline', 0],
      [1, 'agent', 'caller', 2],
      [1, 'tool', 'look', 1],
      [1, 'tool', 'helper', 1],
      [2, 'agent', 'helper', 1],
      [1, 'agent', 'polish', 0],
      [2, 'agent', 'writer', 2],
    ])
    const [pipeline] = lanes
    expect(pipeline?.spans.map(({ from, to }) => [from - START, to - START])).toEqual([[0, clock.now - START]])
  })

  test('marks a transfer and shows the other agent in its own row', async () => {
    const clerk = new LlmAgent({ name: 'clerk', description: 'clerk', model: model(['Hello from the clerk']) })
    const transfer = { calls: [{ name: 'transfer_to_agent', args: { agent_name: 'clerk' } }] }
    const { marks, lanes } = timelineOf(
      await log(new LlmAgent({ name: 'desk', model: model([transfer]), subAgents: [clerk] })),
    )
    expect(marks.at(-1)).toMatchObject({ kind: 'transfer', label: 'Transfer to clerk' })
    expect(lanes.map(({ label }) => label)).toEqual(['desk', 'transfer_to_agent', 'clerk'])
  })

  test('is undefined for an invocation that is not in the log', async () => {
    expect(buildTimeline(await log(refund()), 'other', { now: 0, isRunning: false })).toBeUndefined()
  })
})

test('the scale shortens long waits and keeps the order of times', () => {
  const scale = timeScale(3_600_250, [{ from: 100, to: 3_600_100 }])
  expect(scale.folds).toHaveLength(1)
  expect(scale.at(100)).toBeGreaterThan(0.35)
  expect(scale.at(3_600_100) - scale.at(100)).toBeLessThan(0.1)
  expect(scale.at(3_600_250)).toBeCloseTo(1)
  const places = [0, 50, 100, 2_000_000, 3_600_100, 3_600_200].map(scale.at)
  expect(places).toEqual([...places].sort((one, other) => one - other))
  expect(timeScale(250).ticks).toEqual([0, 50, 100, 150, 200, 250])
})

test('the comparison pairs equal steps and lists arguments, results and added steps that differ', async () => {
  const run = async (amount: number, ...more: string[]) => {
    const calls = [{ name: 'pay', args: { amount } }, ...more.map((name) => ({ name, args: {} }))]
    const tools = [timed('pay', amount), timed('log', 1)]
    return timelineOf(await log(new LlmAgent({ name: 'desk', model: model([{ calls }, 'Paid']), tools })))
  }
  const one = await run(5)
  const compared = compareTimelines(one, await run(7, 'log'))
  expect(compared.map(({ one, other, changes }) => [one?.name, other?.name, ...changes])).toEqual([
    ['Model call', 'Model call'],
    ['pay', 'pay', 'arguments', 'result'],
    [undefined, 'log'],
    ['Model call', 'Model call'],
  ])
  expect(compareTimelines(one, one).every(({ changes }) => changes.length === 0)).toBe(true)
})
