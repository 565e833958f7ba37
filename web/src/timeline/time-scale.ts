import { formatDuration } from '../ui/format.ts'
import type { Step } from './timeline.ts'

/** A part of the time. */
export interface Span {
  /** Its start. */
  readonly from: number
  /** Its end. */
  readonly to: number
}

/** Maps times to places in a picture. */
export interface TimeScale {
  /** The place of a time: from 0 to 1. */
  at(time: number): number
  /** The times that are shown shortened. */
  readonly folds: readonly Span[]
  /** Round times to label. */
  readonly ticks: readonly number[]
}

/** The times in which a step waits and no step works. */
export function quietTimes(steps: readonly Step[], start: number, end: number): readonly Span[] {
  const works = merge(steps.flatMap(workOf))
  const waits = merge(steps.flatMap(({ waits }) => waits)).map(({ from, to }) => clip({ from, to }, start, end))
  return waits.flatMap((wait) => without(wait, works))
}

/** A fold takes the place of this share of the time that is shown in full. */
const FOLD_SHARE = 0.06
/** A time without work is folded if it is longer than this share of the time with work. */
const LONG_SHARE = 0.25
const TICKS = 6

/** A scale from 0 to `duration`. `quiet` times that are long are shortened. */
export function timeScale(duration: number, quiet: readonly Span[] = []): TimeScale {
  const total = Math.max(duration, 1)
  const busy = total - quiet.reduce((sum, { from, to }) => sum + to - from, 0)
  const folds = quiet.filter(({ from, to }) => to - from > Math.max(busy * LONG_SHARE, 1))
  const hidden = folds.reduce((sum, { from, to }) => sum + to - from, 0)
  const shown = Math.max(total - hidden, 1)
  const foldSize = shown * FOLD_SHARE
  const size = shown + folds.length * foldSize
  const at = (time: number): number => {
    let place = Math.min(Math.max(time, 0), total)
    for (const { from, to } of folds) {
      if (time <= from) break
      const inside = Math.min(time, to) - from
      place += (inside / (to - from)) * foldSize - inside
    }
    return place / size
  }
  return { at, folds, ticks: ticksOf(total, size, folds) }
}

/** The texts of ticks, as exact as they must be to differ from each other. */
export function tickTexts(ticks: readonly number[]): readonly string[] {
  const texts = ticks.map((time) => (time === 0 ? '0' : formatDuration(time)))
  return texts.map((text, at) =>
    texts.indexOf(text) === texts.lastIndexOf(text) ? text : formatDuration(ticks[at] ?? 0, 3),
  )
}

/** Round times, outside the folds. */
function ticksOf(total: number, size: number, folds: readonly Span[]): readonly number[] {
  const step = roundUp(size / TICKS)
  const ticks: number[] = []
  let last = Number.NEGATIVE_INFINITY
  let place = 0
  for (const span of [...gaps(folds, total)]) {
    for (let time = Math.ceil(span.from / step) * step; time <= span.to; time += step) {
      const here = place + time - span.from
      if (here - last < step * 0.6) continue
      ticks.push(time)
      last = here
    }
    place += span.to - span.from + size * 0.05
  }
  return ticks
}

function gaps(folds: readonly Span[], total: number): readonly Span[] {
  const edges = [0, ...folds.flatMap(({ from, to }) => [from, to]), total]
  const spans: Span[] = []
  for (let at = 0; at + 1 < edges.length; at += 2) spans.push({ from: edges[at] ?? 0, to: edges[at + 1] ?? total })
  return spans
}

/** The next number of the form 1, 2 or 5 times a power of ten; from a minute on, whole minutes. */
function roundUp(milliseconds: number): number {
  const unit = milliseconds > 60_000 ? 60_000 : 1
  const value = Math.max(milliseconds / unit, 1)
  const power = 10 ** Math.floor(Math.log10(value))
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= value) ?? 10
  return factor * power * unit
}

/** The times in which a step works: all but its waits. */
export function workOf({ from, to, waits }: Step): readonly Span[] {
  if (from === to && waits.length === 0) return [{ from, to }] // too short to measure, but it ran
  return without({ from, to }, merge(waits))
}

/** Spans in order, overlapping ones joined. */
export function merge(spans: readonly Span[]): readonly Span[] {
  const merged: { from: number; to: number }[] = []
  for (const { from, to } of [...spans].sort((one, other) => one.from - other.from)) {
    const last = merged.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else merged.push({ from, to })
  }
  return merged
}

function without(span: Span, merged: readonly Span[]): readonly Span[] {
  const rest: Span[] = []
  let from = span.from
  for (const hole of merged) {
    if (hole.to <= from) continue
    if (hole.from >= span.to) break
    if (hole.from > from) rest.push({ from, to: hole.from })
    from = hole.to
  }
  if (from < span.to) rest.push({ from, to: span.to })
  return rest
}

function clip({ from, to }: Span, start: number, end: number): Span {
  return { from: Math.max(from, start), to: Math.min(to, end) }
}
