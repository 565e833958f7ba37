import type { JSX } from 'preact'
import type { CallStats } from '../../../src/core/event/views/log-stats.ts'
import { formatBytes, formatDuration } from '../ui/format.ts'
import { visibleLine } from '../ui/visible-text.ts'

const COLUMNS = [
  'Calls',
  'Failed',
  'Half within',
  '95 % within',
  'Results',
  'In later requests',
  'Approvals asked',
  'Denied',
  'Waited',
  'Approved in 2 s',
]

/** Fewer approvals say nothing about how they are read. */
const MANY_APPROVALS = 5

/** One row for each tool, agent or model. */
export function StatsTable({
  figures,
  name,
}: {
  readonly figures: readonly CallStats[]
  readonly name: string
}): JSX.Element {
  const most = figures.reduce((calls, one) => Math.max(calls, one.calls), 1)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the table is scrolled with the keyboard
    <section class="table-scroll" aria-label="Figures" tabIndex={0}>
      <table class="figures">
        <thead>
          <tr>
            {[name, ...COLUMNS].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {figures.map((one) => (
            <Row key={one.name} stats={one} most={most} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Row({ stats, most }: { readonly stats: CallStats; readonly most: number }): JSX.Element {
  const { name, calls, p50Ms, p95Ms, resultBytes, carriedTokens, approvalsAsked, approvalsDenied } = stats
  const failures = Object.entries(stats.failures)
  const failed = failures.reduce((sum, [, count]) => sum + count, 0)
  const { fastApprovals, waitedSeconds } = stats
  const isHasty = (fastApprovals ?? 0) > 0.5 && approvalsAsked - approvalsDenied >= MANY_APPROVALS
  return (
    <tr>
      <th scope="row">{visibleLine(name)}</th>
      <td>
        {calls.toLocaleString()} <meter class="share" min={0} max={most} value={calls} aria-hidden="true" />
      </td>
      <td class={failed > 0 ? 'bad' : undefined}>
        {failed > 0 ? (
          <ul class="codes">
            {failures.map(([code, count]) => (
              <li key={code}>
                {count.toLocaleString()} {visibleLine(code)}
              </li>
            ))}
          </ul>
        ) : (
          0
        )}
      </td>
      <td>{durationOf(p50Ms)}</td>
      <td>{durationOf(p95Ms)}</td>
      <td>{formatBytes(resultBytes)}</td>
      <td>{carriedTokens.toLocaleString()} tokens</td>
      <td>{approvalsAsked.toLocaleString()}</td>
      <td>{approvalsDenied.toLocaleString()}</td>
      <td>{waitedSeconds > 0 ? formatDuration(waitedSeconds * 1000) : '–'}</td>
      <td class={isHasty ? 'hasty' : undefined}>
        {fastApprovals === undefined ? '–' : `${Math.round(fastApprovals * 100)} %`}
      </td>
    </tr>
  )
}

const durationOf = (ms: number | undefined): string => (ms === undefined ? '–' : formatDuration(ms))
