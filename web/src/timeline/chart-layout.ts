import { quietTimes, type Span, type TimeScale, timeScale } from './time-scale.ts'
import type { Lane, Step, Timeline } from './timeline.ts'

/** The height of the axis. */
export const AXIS = 26
/** The height of a row. */
export const ROW = 26
/** The space above the rows of another agent or run. */
export const GAP = 8

/** A row of the picture and its place. */
export interface PlacedLane {
  /** The row. */
  readonly lane: Lane
  /** The timeline that has it. */
  readonly timeline: Timeline
  /** The distance from the top, in pixels. */
  readonly top: number
  /** Is it the first row of its timeline? */
  readonly isFirst: boolean
}

/** The picture of one timeline, or of two that are compared. */
export interface ChartLayout {
  /** The rows from top to bottom. */
  readonly rows: readonly PlacedLane[]
  /** The height in pixels. */
  readonly height: number
  /** Places of times, in milliseconds after the start of a timeline. */
  readonly scale: TimeScale
}

/** Lays out timelines below each other, aligned at their start. `foldsWaits` shortens times without work. */
export function layOut(timelines: readonly Timeline[], foldsWaits: boolean): ChartLayout {
  const rows: PlacedLane[] = []
  let top = AXIS
  for (const timeline of timelines) {
    timeline.lanes.forEach((lane, at) => {
      const isFirst = at === 0
      if (lane.kind === 'agent' && !isFirst && timeline.lanes[at - 1]?.label !== lane.label) top += GAP
      if (isFirst && timeline !== timelines[0]) top += 3 * GAP
      rows.push({ lane, timeline, top, isFirst })
      top += ROW
    })
  }
  const duration = Math.max(...timelines.map(({ start, end }) => end - start))
  const steps = timelines.flatMap((timeline) => timeline.steps.map((step) => fromStart(step, timeline.start)))
  const quiet: readonly Span[] = foldsWaits ? quietTimes(steps, 0, duration) : []
  return { rows, height: top + GAP, scale: timeScale(duration, quiet) }
}

function fromStart(step: Step, start: number): Step {
  const waits = step.waits.map((wait) => ({ ...wait, from: wait.from - start, to: wait.to - start }))
  return { ...step, from: step.from - start, to: step.to - start, waits }
}

/** The step that an arrow key leads to; undefined if there is none. */
export function neighbour(rows: readonly PlacedLane[], step: Step, key: string): Step | undefined {
  const row = rows.findIndex(({ lane }) => lane.steps.includes(step))
  const placed = rows[row]
  if (!placed) return undefined
  const { steps } = placed.timeline
  const at = steps.indexOf(step)
  switch (key) {
    case 'ArrowRight':
      return steps[at + 1]
    case 'ArrowLeft':
      return steps[at - 1]
    case 'Home':
      return steps[0]
    case 'End':
      return steps.at(-1)
    case 'ArrowDown':
      return nearest(rows[row + 1], step, placed.timeline.start)
    case 'ArrowUp':
      return nearest(rows[row - 1], step, placed.timeline.start)
    default:
      return undefined
  }
}

function nearest(row: PlacedLane | undefined, step: Step, start: number): Step | undefined {
  if (!row) return undefined
  const distance = ({ from }: Step): number => Math.abs(from - row.timeline.start - (step.from - start))
  return row.lane.steps.reduce((best, other) => (distance(other) < distance(best) ? other : best))
}
