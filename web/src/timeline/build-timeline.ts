import { textOf } from '../../../src/content/content.ts'
import type { Entry } from '../../../src/event/event.ts'
import { assignLanes } from './assign-lanes.ts'
import { StepReader } from './step-reader.ts'
import { quietTimes } from './time-scale.ts'
import type { Step, Timeline, Totals } from './timeline.ts'

/** What the log does not say. */
export interface TimelineOptions {
  /** The current time in milliseconds since the epoch: open steps last until now. */
  readonly now: number
  /** Is a run of the session under way? */
  readonly isRunning: boolean
}

/** The timeline of an invocation, derived from the log of its session. Undefined if the log has no event of it. */
export function buildTimeline(
  entries: readonly Entry[],
  invocationId: string,
  { now, isRunning }: TimelineOptions,
): Timeline | undefined {
  const reader = new StepReader()
  let first: number | undefined
  let last = 0
  let message = ''
  for (const { event, record } of entries) {
    if ((event ?? record)?.invocationId !== invocationId) continue
    if (record) reader.addRecord(record)
    if (!event) continue
    reader.addEvent(event)
    first ??= event.timestamp * 1000
    last = Math.max(last, event.timestamp * 1000)
    if (event.author === 'user' && message === '') message = textOf(event.content)
  }
  if (first === undefined) return undefined
  const { isOpen, isWaiting } = reader
  const end = isOpen && (isRunning || isWaiting) ? Math.max(last, now) : last
  const steps = reader.finish({ end, isRunning })
  const { marks } = reader
  return {
    invocationId,
    message,
    start: first,
    end,
    steps,
    lanes: assignLanes(steps),
    marks,
    totals: totalsOf(steps, first, end),
  }
}

function totalsOf(steps: readonly Step[], start: number, end: number): Totals {
  const tokens = (name: string): number => steps.reduce((sum, { usage }) => sum + numberOf(usage?.[name]), 0)
  return {
    durationMs: end - start,
    waitingMs: quietTimes(steps, start, end).reduce((sum, { from, to }) => sum + to - from, 0),
    modelCalls: steps.filter(({ kind }) => kind === 'model').length,
    toolCalls: steps.filter(({ kind }) => kind === 'tool').length,
    failures: steps.filter(({ status }) => status === 'failed').length,
    inputTokens: tokens('promptTokenCount'),
    outputTokens: tokens('candidatesTokenCount'),
  }
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
