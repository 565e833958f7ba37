import './stats.css'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { StatsGroup } from '../../../src/core/event/views/log-stats.ts'
import { describeError } from '../api/api-error.ts'
import type { StatsResponse } from '../api/stats.ts'
import { Button } from '../ui/Button.tsx'
import { StatsTable } from './StatsTable.tsx'
import { useStats } from './use-stats.ts'

type Group = Exclude<StatsGroup, 'user'>
type Period = 'hour' | 'day' | 'week' | 'always'

const GROUPS: Readonly<Record<Group, string>> = { tool: 'Tool', agent: 'Agent', model: 'Model' }
const PERIODS: Readonly<Record<Period, string>> = {
  hour: 'Last hour',
  day: 'Last 24 hours',
  week: 'Last 7 days',
  always: 'Always',
}
const HOURS: Readonly<Record<Period, number | undefined>> = { hour: 1, day: 24, week: 168, always: undefined }

/** How the tools of a user's sessions were used: failures, times, sizes and approvals. */
export function StatsPage({ app, userId }: { readonly app: string; readonly userId: string }): JSX.Element {
  const [by, setBy] = useState<Group>('tool')
  const [period, setPeriod] = useState<Period>('always')
  const { stats, isReading, again } = useStats(app, userId, { by, hours: HOURS[period] })
  return (
    <div class="view">
      <header class="view-head">
        <h1>Statistics</h1>
        <span class="muted">{stats && !(stats instanceof Error) && sessionsText(stats)}</span>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the page is scrolled with the keyboard */}
      <section class="view-body" tabIndex={0} aria-label="Tool calls" aria-busy={isReading}>
        <div class="column stats">
          <div class="stats-controls">
            <Choice<Group> label="By" value={by} names={GROUPS} onChoose={setBy} />
            <Choice<Period> label="When" value={period} names={PERIODS} onChoose={setPeriod} />
            <Button icon="retry" label="Read again" onClick={again} />
          </div>
          <Figures stats={stats} by={by} />
        </div>
      </section>
    </div>
  )
}

function Figures({
  stats,
  by,
}: {
  readonly stats: StatsResponse | Error | undefined
  readonly by: Group
}): JSX.Element {
  if (stats === undefined) return <p class="empty">Loading…</p>
  if (stats instanceof Error) return <p class="empty">{describeError(stats)}</p>
  if (stats.figures.length === 0) return <p class="empty">No tool was called.</p>
  return (
    <>
      <StatsTable figures={stats.figures} name={GROUPS[by]} />
      <p class="muted">
        Times are without what a call waited for people. <em>In later requests</em> estimates the tokens that results
        put into requests to models. Many approvals within two seconds are a sign that nobody reads the questions.
      </p>
    </>
  )
}

/** A choice between a few values, with its label above it. */
export function Choice<T extends string>({
  label,
  value,
  names,
  onChoose,
}: {
  readonly label: string
  readonly value: T
  readonly names: Readonly<Record<T, string>>
  onChoose(value: T): void
}): JSX.Element {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value as T)}>
        {Object.entries<string>(names).map(([key, name]) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

function sessionsText({ sessions, hasMore }: StatsResponse): string {
  const count = `${sessions.toLocaleString()} ${sessions === 1 ? 'session' : 'sessions'}`
  return hasMore ? `the latest ${count}` : count
}
