import type { ComponentType } from 'preact'
import { memo } from '../ui/memo.ts'
import { barText, describeStep, waitText } from './describe-step.ts'
import { type TimeScale, workOf } from './time-scale.ts'
import type { Step } from './timeline.ts'

/** Props of the bar of a step. */
export interface BarProps {
  /** The step. */
  readonly step: Step
  /** When its timeline began. */
  readonly start: number
  /** The places of times. */
  readonly scale: TimeScale
  /** The width of the picture in pixels. */
  readonly width: number
  /** The distance of its row from the top. */
  readonly top: number
  /** Is it the selected step? */
  readonly isSelected: boolean
  /** Does the tab key lead to it? */
  readonly isTabStop: boolean
}

const HEIGHT = 18
const INSET = 4
const NARROWEST = 5
const CHARACTER = 6.4

/** A step: solid where it works, hatched where it waits. */
export const Bar: ComponentType<BarProps> = memo(function Bar(props: BarProps) {
  const { step, start, scale, width, top, isSelected, isTabStop } = props
  const place = (time: number): number => scale.at(time - start) * width
  const left = place(step.from)
  const size = Math.max(place(step.to) - left, NARROWEST)
  const box = { y: top + INSET, height: HEIGHT, rx: 4 }
  const works = workOf(step)
  const text = barText(step)
  const widest = works.reduce((most, { from, to }) => Math.max(most, place(to) - place(from)), 0)
  const first = works.find(({ from, to }) => place(to) - place(from) === widest)
  const fitting = [text, step.attempt > 1 ? `↻${step.attempt}` : ''].find((one) => one.length * CHARACTER + 10 < widest)
  return (
    // biome-ignore lint/a11y/useSemanticElements: SVG has no buttons
    <g
      class={`bar ${step.kind} ${step.status} ${step.gate}${isSelected ? ' selected' : ''}`}
      role="button"
      tabindex={isTabStop ? 0 : -1}
      data-step={step.id}
      aria-label={describeStep(step, start)}
      aria-pressed={isSelected}
    >
      <rect class="bar-back" {...box} x={left} width={size} />
      {works.map(({ from, to }) => (
        <rect
          key={from}
          class="bar-work"
          {...box}
          x={place(from)}
          width={Math.max(place(to) - place(from), works.length === 1 ? NARROWEST : 2)}
        />
      ))}
      {step.waits.map((wait) => (
        <rect
          key={wait.from}
          class="bar-wait"
          {...box}
          rx={0}
          x={place(wait.from)}
          width={Math.max(place(wait.to) - place(wait.from), 2)}
        >
          <title>{waitText(wait)}</title>
        </rect>
      ))}
      <rect class="bar-frame" {...box} x={left} width={size} />
      {fitting && first && (
        <text class="bar-text" x={place(first.from) + 6} y={top + INSET + 13}>
          {fitting}
        </text>
      )}
    </g>
  )
})
