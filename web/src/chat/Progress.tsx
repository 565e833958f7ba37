import type { JSX } from 'preact'
import { isRecord } from '../../../src/core/base/json.ts'
import { Tree } from '../ui/Tree.tsx'
import { visibleLine } from '../ui/visible-text.ts'

/** What a running tool reports. A number, or `{ progress, total, message }`, is shown as a bar. */
export function Progress({ value }: { readonly value: unknown }): JSX.Element {
  const share = shareOf(value)
  const message = messageOf(value)
  return (
    <div class="progress">
      {share !== undefined && <progress value={share} max={1} aria-label="Progress" />}
      {message !== undefined && <span>{visibleLine(message)}</span>}
      {share === undefined && message === undefined && <Tree value={value} label="Progress" />}
    </div>
  )
}

/** The share that is done, from 0 to 1: `0.4`, `40` (percent), `{ progress: 2, total: 5 }`, `{ percent: 40 }`. */
function shareOf(value: unknown): number | undefined {
  if (typeof value === 'number') return clamp(value <= 1 ? value : value / 100)
  if (!isRecord(value)) return undefined
  const done = value.progress ?? value.done ?? value.loaded
  if (typeof done === 'number' && typeof value.total === 'number' && value.total > 0) return clamp(done / value.total)
  return typeof value.percent === 'number' ? clamp(value.percent / 100) : undefined
}

function messageOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (!isRecord(value)) return undefined
  const text = value.message ?? value.status ?? value.step
  return typeof text === 'string' ? text : undefined
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share))
}
