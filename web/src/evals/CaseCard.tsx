import type { JSX } from 'preact'
import type { CaseResult, TrialResult } from '../../../src/adapters/eval/results/results.ts'
import { Differences } from '../requests/Changes.tsx'
import { differences } from '../requests/diff.ts'
import { formatDuration } from '../ui/format.ts'
import { VisibleText } from '../ui/VisibleText.tsx'
import { visibleLine } from '../ui/visible-text.ts'

/** A case: whether it passed, and what its checks found. */
export function CaseCard({ result }: { readonly result: CaseResult }): JSX.Element {
  const { case: id, status, trials } = result
  const name = visibleLine(id)
  const passed = trials.filter((trial) => trial.status === 'PASSED').length
  const sum = (figure: 'calls' | 'timeMs'): number => trials.reduce((all, trial) => all + trial[figure], 0)
  const changed = trials.flatMap(({ checks }) => checks.flatMap(({ difference }) => difference ?? []))[0]
  const { what = '', entries } = changed ?? {}
  const found = entries ? differences({ [what]: entries.recorded }, { [what]: entries.replayed }) : []
  return (
    <article class={`card ${status === 'PASSED' ? 'completed' : 'failed'}`} aria-label={name}>
      <div class="card-head">
        <strong class="tool-name">{name}</strong>
        <span>{status.toLowerCase().replace('_', ' ')}</span>
        {trials.length > 1 && <span class="tag">{`${passed} of ${trials.length}`}</span>}
        <span class="card-time">{`${sum('calls')} calls · ${formatDuration(sum('timeMs'))}`}</span>
      </div>
      {problemsOf(trials).map((text) => (
        <p key={text} class="reason">
          <VisibleText text={text} />
        </p>
      ))}
      {found.length > 0 && <Differences found={found} title="Recorded, and replayed:" />}
    </article>
  )
}

/** What the runs of a case found, each thing once. */
function problemsOf(trials: readonly TrialResult[]): readonly string[] {
  const all = trials.flatMap(({ checks, error, notes }) => [
    ...(error === undefined ? [] : [error]),
    ...checks.filter(({ status }) => status !== 'PASSED').map(({ name, detail = 'failed' }) => `${name}: ${detail}`),
    ...notes,
  ])
  return [...new Set(all)]
}
