import './fleet.css'
import type { JSX } from 'preact'
import type { FleetView } from '../../../src/engine/runner/work/fleet-view.ts'
import { describeError } from '../api/api-error.ts'
import { formatDuration } from '../ui/format.ts'
import { visibleLine } from '../ui/visible-text.ts'
import { SetAsideList } from './SetAsideList.tsx'
import { useFleet } from './use-fleet.ts'
import { WorkerTable } from './WorkerTable.tsx'

/** The workers of an app, its sessions by state, and what waits. `file`: the agent file, for the command that starts a worker. */
export function FleetPage({ app, file }: { readonly app: string; readonly file: string | undefined }): JSX.Element {
  const { fleet, again } = useFleet(app)
  return (
    <div class="view">
      <header class="view-head">
        <h1>Fleet</h1>
        <span class="muted">{fleet && !(fleet instanceof Error) && workersText(fleet)}</span>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the page is scrolled with the keyboard */}
      <section class="view-body" tabIndex={0} aria-label="Workers and sessions">
        <div class="column fleet">
          {fleet === undefined && <p class="empty">Loading…</p>}
          {fleet instanceof Error && <p class="empty">{describeError(fleet)}</p>}
          {fleet && !(fleet instanceof Error) && <Fleet fleet={fleet} file={file} onRetried={again} />}
        </div>
      </section>
    </div>
  )
}

function Fleet({
  fleet,
  file = 'agent.ts',
  onRetried,
}: {
  readonly fleet: FleetView
  readonly file?: string | undefined
  onRetried(): void
}): JSX.Element {
  const { workers, listsWorkers, sessions, setAside } = fleet
  return (
    <>
      <section>
        <h2>Workers</h2>
        {workers.length > 0 && <WorkerTable workers={workers} />}
        {workers.length === 0 && listsWorkers && (
          <p>
            No worker runs. Requests run in the server. Start a worker, here or on another machine with the same
            database: <code>{visibleLine(`npx toolwright worker ${file}`)}</code>
          </p>
        )}
        {!listsWorkers && (
          <p>The store of this app does not keep workers. The services of sqlite() and postgres() do.</p>
        )}
      </section>
      <section>
        <h2>Sessions</h2>
        {sessions ? <SessionCounts sessions={sessions} /> : <p>The store of this app does not count sessions.</p>}
        <dl class="facts">
          <Waiting fleet={fleet} />
          <Recoveries fleet={fleet} />
        </dl>
      </section>
      {setAside.length > 0 && <SetAsideList app={fleet.appName} sessions={setAside} onRetried={onRetried} />}
    </>
  )
}

const STATES = [
  ['running', 'Running'],
  ['interrupted', 'Interrupted'],
  ['posted', 'With new messages'],
  ['waiting', 'Waiting for an answer'],
  ['setAside', 'Set aside'],
  ['idle', 'Idle'],
] as const

function SessionCounts({ sessions }: { readonly sessions: NonNullable<FleetView['sessions']> }): JSX.Element {
  return (
    <dl class="states">
      {STATES.map(([state, label]) => (
        <div key={state} class={`state ${state}${sessions[state] > 0 ? ' some' : ''}`}>
          <dt>{label}</dt>
          <dd>{sessions[state].toLocaleString()}</dd>
        </div>
      ))}
    </dl>
  )
}

function Waiting({ fleet: { pending } }: { readonly fleet: FleetView }): JSX.Element {
  const { count, oldest } = pending
  return (
    <>
      <dt>Pending requests</dt>
      <dd>{count?.toLocaleString() ?? (oldest ? 'some' : 'none')}</dd>
      {oldest && (
        <>
          <dt>Oldest</dt>
          <dd>
            {visibleLine(`${oldest.tool} of ${oldest.userId}, session ${oldest.sessionId}`)}
            {oldest.ageMs !== undefined && `, ${formatDuration(oldest.ageMs)}`}
          </dd>
        </>
      )}
    </>
  )
}

function Recoveries({ fleet: { recoveries } }: { readonly fleet: FleetView }): JSX.Element {
  const { count, p50Ms, p99Ms } = recoveries
  return (
    <>
      <dt>Recoveries</dt>
      <dd>
        {count.toLocaleString()}
        {p50Ms !== undefined && `, half within ${formatDuration(p50Ms)}`}
        {p99Ms !== undefined && `, 99 % within ${formatDuration(p99Ms)}`}
      </dd>
    </>
  )
}

function workersText({ workers }: FleetView): string {
  const alive = workers.filter(({ isLost }) => !isLost)
  const versions = new Set(alive.map(({ agents, version }) => `${version} ${agents}`)).size
  const count = `${alive.length} ${alive.length === 1 ? 'worker' : 'workers'}`
  return versions > 1 ? `${count}, ${versions} versions` : count
}
