import { formatDuration } from '../ui/format.ts'
import { visibleLine } from '../ui/visible-text.ts'
import type { Step, Wait } from './timeline.ts'

const STATUS = {
  done: 'done',
  failed: 'failed',
  waiting: 'waiting',
  running: 'running',
  interrupted: 'interrupted',
} as const

const NOT_RUN = { held: 'not run', denied: 'denied' } as const

/** The outcome of a step in words. */
export function statusText({ status, gate, attempt }: Step): string {
  const isEnded = status === 'done' || status === 'failed'
  const text = isEnded && gate !== 'passed' ? NOT_RUN[gate] : STATUS[status]
  return attempt > 1 ? `${text}, attempt ${attempt}` : text
}

/** What a wait is for, in words. */
export function waitText({ kind }: Wait): string {
  switch (kind) {
    case 'confirmation':
      return 'Waiting for approval'
    case 'credential':
      return 'Waiting for a credential'
    case 'input':
      return 'Waiting for input'
    case 'longRunning':
      return 'Waiting for the result'
  }
}

/** The time that a step waited, in milliseconds. */
export function waitedMs({ waits }: Step): number {
  return waits.reduce((sum, { from, to }) => sum + to - from, 0)
}

/** The tokens of a step; undefined if it has none. */
export function tokensOf({ usage }: Step): number | undefined {
  const { totalTokenCount: total, promptTokenCount: input, candidatesTokenCount: output } = usage ?? {}
  if (typeof total === 'number') return total
  if (typeof input !== 'number' && typeof output !== 'number') return undefined
  return (typeof input === 'number' ? input : 0) + (typeof output === 'number' ? output : 0)
}

/** The text in the bar of a step. */
export function barText(step: Step): string {
  const tokens = tokensOf(step)
  const work = workText(step)
  return `${step.attempt > 1 ? `↻${step.attempt} ` : ''}${work}${tokens === undefined ? '' : ` · ${tokens} tokens`}`
}

/** How long a step worked. */
function workText(step: Step): string {
  return formatDuration(Math.max(0, step.to - step.from - waitedMs(step)))
}

/** The step in one sentence, for screen readers. It contains the text in the bar, which users of voice control read aloud. */
export function describeStep(step: Step, start: number): string {
  const { name, agent, kind, from, to } = step
  const waited = waitedMs(step)
  const tokens = tokensOf(step)
  return [
    kind === 'tool' ? `Tool ${visibleLine(name)}` : name,
    `by ${visibleLine(agent)}`,
    statusText(step),
    `after ${formatDuration(from - start)}`,
    `took ${formatDuration(to - from)}`,
    ...(waited > 0 ? [`of which it waited ${formatDuration(waited)}`, `worked ${workText(step)}`] : []),
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
    ...(step.attempt > 1 ? [barText(step)] : []),
  ].join(', ')
}
