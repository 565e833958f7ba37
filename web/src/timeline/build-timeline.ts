import { textOf } from '../../../src/core/content/content.ts'
import type { Entry } from '../../../src/core/event/event.ts'
import { readLog } from '../../../src/core/event/views/log-reader.ts'
import type { InvocationView } from '../../../src/core/event/views/views.ts'
import { assignLanes } from './assign-lanes.ts'
import { markOf, stepsOf } from './steps.ts'
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
  const own = entries.filter(({ event, record }) => (event ?? record)?.invocationId === invocationId)
  const invocation = readLog(own).invocation(invocationId)
  if (!invocation || invocation.updatedAt === 0) return undefined // there are only records of it
  const { status, startedAt, updatedAt, message, calls, marks } = invocation
  const start = startedAt * 1000
  const isOpen = status === 'waiting' || (status === 'running' && isRunning)
  const end = isOpen ? Math.max(updatedAt * 1000, now) : updatedAt * 1000
  const steps = stepsOf(invocation, { end, isRunning })
  return {
    invocationId,
    message: textOf(message?.content),
    start,
    end,
    steps,
    lanes: assignLanes(steps),
    marks: marks.map((mark) => markOf(mark, calls)),
    totals: totalsOf(steps, invocation, end),
  }
}

function totalsOf(steps: readonly Step[], { startedAt, tokens }: InvocationView, end: number): Totals {
  const start = startedAt * 1000
  return {
    durationMs: end - start,
    waitingMs: quietTimes(steps, start, end).reduce((sum, { from, to }) => sum + to - from, 0),
    modelCalls: steps.filter(({ kind }) => kind === 'model').length,
    toolCalls: steps.filter(({ kind }) => kind === 'tool').length,
    failures: steps.filter(({ status }) => status === 'failed').length,
    inputTokens: tokens.input,
    outputTokens: tokens.output,
  }
}
