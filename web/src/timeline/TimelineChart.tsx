import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { formatDuration } from '../ui/format.ts'
import { visibleLine } from '../ui/visible-text.ts'
import { Bar } from './Bar.tsx'
import { AXIS, type ChartLayout, layOut, neighbour, ROW } from './chart-layout.ts'
import { tickTexts } from './time-scale.ts'
import type { Mark, Step, Timeline } from './timeline.ts'

/** Props of the picture. */
export interface TimelineChartProps {
  /** One timeline, or two that are compared. */
  readonly timelines: readonly Timeline[]
  /** Shortens times without work. */
  readonly foldsWaits: boolean
  /** 1 shows everything; 2 is twice as wide. */
  readonly zoom: number
  /** The id of the selected step. */
  readonly selectedId: string | undefined
  /** Called with the step under the pointer or with the focus. */
  onShow(step: Step): void
  /** Called with the step that the user chooses. */
  onSelect(step: Step): void
}

/** The width of the text at a tick, and of one of its characters, in pixels. */
const TICK_TEXT = 44
const TICK_CHARACTER = 6.5
/** More steps are not drawn: the table has them. */
export const MOST_STEPS = 2000
/** Steps that are drawn before each frame: two thousand at once would block the page. */
const STEPS_PER_FRAME = 150

/** One or two timelines as a picture. Arrow keys walk through the steps. */
export function TimelineChart(props: TimelineChartProps): JSX.Element {
  const { timelines, foldsWaits, zoom, selectedId, onShow, onSelect } = props
  const layout = useMemo(() => layOut(timelines, foldsWaits), [timelines, foldsWaits])
  const scroller = useRef<HTMLDivElement>(null)
  const width = Math.max(120, useWidth(scroller) * zoom - 12)
  const [stop, setStop] = useState<string>()
  const steps = useMemo(() => timelines.flatMap((timeline) => timeline.steps), [timelines])
  const count = useGrowing(Math.min(steps.length, MOST_STEPS))
  const drawn = useMemo(() => new Set(steps.slice(0, count)), [steps, count])
  const stopId = steps.some(({ id }) => id === stop) ? stop : (selectedId ?? steps[0]?.id)
  const stepOf = (target: EventTarget | null): Step | undefined => {
    const id = target instanceof Element ? target.closest('[data-step]')?.getAttribute('data-step') : undefined
    return steps.find((step) => step.id === id)
  }
  const move = (event: KeyboardEvent): void => {
    const step = stepOf(event.target)
    if (!step) return
    const isChosen = event.key === 'Enter' || event.key === ' '
    const next = neighbour(layout.rows, step, event.key)
    if (!isChosen && !next) return
    event.preventDefault()
    if (isChosen) onSelect(step)
    else if (next) scroller.current?.querySelector<SVGElement>(`[data-step="${CSS.escape(next.id)}"]`)?.focus()
  }
  const show = (event: Event): void => {
    const step = stepOf(event.target)
    if (!step) return
    if (event.type === 'focus') setStop(step.id)
    onShow(step)
  }
  const choose = (event: Event): void => {
    const step = stepOf(event.target)
    if (step) onSelect(step)
  }
  return (
    <div class="timeline-chart">
      <Labels layout={layout} isCompared={timelines.length > 1} />
      <div class="timeline-scroller" ref={scroller}>
        {/* biome-ignore lint/a11y/useSemanticElements: SVG has no fieldset */}
        <svg
          role="group"
          aria-label="Steps over time. Arrow keys move between steps."
          width={width + 12}
          height={layout.height}
          onKeyDown={move}
          onFocusCapture={show}
          onPointerOver={show}
          onClick={choose}
        >
          <Hatching />
          <Axis {...{ layout, width }} />
          {layout.rows.map(({ lane, timeline, top }) =>
            lane.spans.map(({ from, to }) => {
              const [x, end] = [from, to].map((time) => layout.scale.at(time - timeline.start) * width)
              const size = Math.max((end ?? 0) - (x ?? 0), 2)
              return (
                <rect key={`${lane.id} ${from}`} class="timeline-span" x={x} y={top + 11} width={size} height={4} />
              )
            }),
          )}
          {layout.rows.map(({ lane, timeline, top }) =>
            lane.steps
              .filter((step) => drawn.has(step))
              .map((step) => (
                <Bar
                  key={`${timeline.invocationId} ${step.id}`}
                  {...{ step, top, width }}
                  start={timeline.start}
                  scale={layout.scale}
                  isSelected={step.id === selectedId}
                  isTabStop={step.id === stopId}
                />
              )),
          )}
          {timelines[0] && <Marks timeline={timelines[0]} {...{ layout, width }} />}
        </svg>
      </div>
    </div>
  )
}

function Labels({ layout, isCompared }: { readonly layout: ChartLayout; readonly isCompared: boolean }): JSX.Element {
  return (
    <div class="timeline-labels" style={{ height: `${layout.height}px` }} aria-hidden="true">
      {layout.rows.map(({ lane, top, isFirst, timeline }) => (
        <div key={`${timeline.invocationId} ${lane.id}`}>
          {isCompared && isFirst && (
            <span class="timeline-run" style={{ top: `${top - 20}px` }}>
              {top < 2 * ROW ? 'This run' : 'Other run'}
            </span>
          )}
          <span
            class={`timeline-label ${lane.kind}`}
            title={visibleLine(lane.label)}
            style={{ top: `${top}px`, paddingLeft: `${lane.depth * 16 + (lane.kind === 'tool' ? 8 : 0)}px` }}
          >
            {visibleLine(lane.label)}
          </span>
        </div>
      ))}
    </div>
  )
}

/** The pattern of waiting: stripes, so that it differs from work without colour. */
function Hatching(): JSX.Element {
  return (
    <defs>
      <pattern id="waiting" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="hatch-back" width="6" height="6" />
        <rect class="hatch-line" width="2" height="6" />
      </pattern>
    </defs>
  )
}

function Axis({ layout, width }: { readonly layout: ChartLayout; readonly width: number }): JSX.Element {
  const { scale, height, rows } = layout
  const texts = tickTexts(scale.ticks)
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a group of lines has no focus
    <g aria-hidden="true">
      {rows.map(({ top, lane }, at) => (
        <line key={at} class={`timeline-rule ${lane.kind}`} x1={0} x2={width + 12} y1={top + ROW} y2={top + ROW} />
      ))}
      {scale.ticks.map((time, at) => {
        const x = scale.at(time) * width
        const text = texts[at] ?? ''
        const isLast = x + 3 + text.length * TICK_CHARACTER > width + 8
        return (
          <g key={time}>
            <line class="timeline-tick" x1={x} x2={x} y1={AXIS - 8} y2={height} />
            {!scale.folds.some(({ from }) => Math.abs(scale.at(from) * width - x) < TICK_TEXT) && (
              <text
                class="timeline-time"
                x={isLast ? x - 3 : x + 3}
                y={AXIS - 10}
                text-anchor={isLast ? 'end' : 'start'}
              >
                {text}
              </text>
            )}
          </g>
        )
      })}
      {scale.folds.map(({ from, to }) => {
        const x = scale.at(from) * width
        const size = scale.at(to) * width - x
        return (
          <g key={from}>
            <rect class="timeline-fold" x={x} y={0} width={size} height={height} />
            <text class="timeline-time fold" x={x + size / 2} y={AXIS - 10} text-anchor="middle">
              {formatDuration(to - from)}
            </text>
          </g>
        )
      })}
    </g>
  )
}

const GLYPHS: { readonly [Kind in Mark['kind']]: string } = { message: '●', answer: '✓', transfer: '→', error: '✕' }

function Marks({
  timeline,
  layout,
  width,
}: {
  readonly timeline: Timeline
  readonly layout: ChartLayout
  readonly width: number
}): JSX.Element {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a group of lines has no focus
    <g aria-hidden="true">
      {timeline.marks.slice(0, MOST_STEPS).map(({ kind, at, label, eventId }) => {
        const x = layout.scale.at(at - timeline.start) * width
        return (
          <g key={`${eventId} ${label}`} class={`timeline-mark ${kind}`}>
            <title>{visibleLine(label)}</title>
            <line x1={x} x2={x} y1={AXIS - 4} y2={layout.height} />
            <text x={x} y={AXIS + 1} text-anchor={x < 6 ? 'start' : 'middle'}>
              {GLYPHS[kind]}
            </text>
          </g>
        )
      })}
    </g>
  )
}

/** Grows to a number over several frames. */
function useGrowing(to: number): number {
  const [count, setCount] = useState(STEPS_PER_FRAME)
  useEffect(() => {
    if (count >= to) return
    const frame = requestAnimationFrame(() => setCount(count + STEPS_PER_FRAME))
    return () => cancelAnimationFrame(frame)
  }, [count, to])
  return Math.min(count, to)
}

/** The width of an element without its padding, in pixels. It is measured before the first paint, so that nothing jumps. */
function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(600)
  useLayoutEffect(() => {
    const { current } = element
    if (!current) return
    const { paddingLeft, paddingRight } = getComputedStyle(current)
    setWidth(Math.floor(current.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight)))
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)))
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  return width
}
