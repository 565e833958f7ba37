import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { formatDuration } from '../ui/format.ts'
import { Tree } from '../ui/Tree.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { type ComparedStep, compareTimelines } from './compare-timelines.ts'
import { statusText, tokensOf } from './describe-step.ts'
import type { Timeline, Totals } from './timeline.ts'

/** Props of a comparison. */
export interface ComparisonProps {
  /** The timeline that is shown. */
  readonly one: Timeline
  /** The other timeline. */
  readonly other: Timeline
}

const ROWS = 200

/** What differs between two runs: sums, then step by step. */
export function Comparison({ one, other }: ComparisonProps): JSX.Element {
  const steps = useMemo(() => compareTimelines(one, other), [one, other])
  const [showsAll, setShowsAll] = useState(false)
  const differing = steps.filter(({ one: first, other: second, changes }) => !first || !second || changes.length > 0)
  const rows = showsAll ? steps : differing
  return (
    <section class="comparison" aria-label="Comparison">
      <h2>Comparison</h2>
      <TotalsTable one={one.totals} other={other.totals} />
      <div class="comparison-head">
        <h3>
          {differing.length === 0 ? 'All steps are equal' : `${differing.length} of ${steps.length} steps differ`}
        </h3>
        <label class="check">
          <input type="checkbox" checked={showsAll} onChange={() => setShowsAll(!showsAll)} /> Show equal steps
        </label>
      </div>
      <ol class="compared-steps">
        {rows.slice(0, ROWS).map((step, at) => (
          <Compared key={at} step={step} />
        ))}
      </ol>
      {rows.length > ROWS && <p class="muted">The first {ROWS} are shown.</p>}
    </section>
  )
}

const SUMS: readonly {
  readonly key: keyof Totals
  readonly label: string
  readonly format?: (value: number) => string
}[] = [
  { key: 'durationMs', label: 'Duration', format: formatDuration },
  { key: 'waitingMs', label: 'Waiting', format: formatDuration },
  { key: 'modelCalls', label: 'Model calls' },
  { key: 'toolCalls', label: 'Tool calls' },
  { key: 'failures', label: 'Failed steps' },
  { key: 'inputTokens', label: 'Input tokens' },
  { key: 'outputTokens', label: 'Output tokens' },
]

function TotalsTable({ one, other }: { readonly one: Totals; readonly other: Totals }): JSX.Element {
  return (
    <table class="step-table totals">
      <thead>
        <tr>
          <td />
          <th scope="col">This run</th>
          <th scope="col">Other run</th>
          <th scope="col">Difference</th>
        </tr>
      </thead>
      <tbody>
        {SUMS.map(({ key, label, format = String }) => {
          const change = other[key] - one[key]
          const sign = change > 0 ? '+' : '−'
          return (
            <tr key={key}>
              <th scope="row">{label}</th>
              <td>{format(one[key])}</td>
              <td>{format(other[key])}</td>
              <td>{Math.abs(change) < 0.5 ? '' : `${sign}${format(Math.abs(change))}`}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

function Compared({ step: { one, other, changes } }: { readonly step: ComparedStep }): JSX.Element {
  const step = one ?? other
  if (!step) return <li />
  const where = one && other ? undefined : one ? 'only in this run' : 'only in the other run'
  return (
    <li class={where ? 'only' : undefined}>
      <p>
        <strong>{visibleLine(step.name)}</strong> <span class="muted">{visibleLine(step.agent)}</span>{' '}
        {where && <span class="diff-tag">{where}</span>}
        {changes.map((change) => (
          <span key={change} class="diff-tag">
            {change}
          </span>
        ))}
        {one && other && (
          <span class="muted">
            {formatDuration(one.to - one.from)} → {formatDuration(other.to - other.from)}
          </span>
        )}
      </p>
      {changes.includes('arguments') && <Both name="Arguments" one={one?.args} other={other?.args} />}
      {changes.includes('result') && <Both name="Result" one={one?.result} other={other?.result} />}
      {changes.includes('outcome') && one && other && (
        <p>
          {statusText(one)} → {statusText(other)}
        </p>
      )}
      {changes.includes('tokens') && one && other && (
        <p>
          {tokensOf(one) ?? 0} → {tokensOf(other) ?? 0} tokens
        </p>
      )}
    </li>
  )
}

function Both(props: { readonly name: string; readonly one: unknown; readonly other: unknown }): JSX.Element {
  const { name, one, other } = props
  return (
    <div class="both">
      <Tree label={`${name} of this run`} value={one ?? null} />
      <Tree label={`${name} of the other run`} value={other ?? null} />
    </div>
  )
}
