import type { JSX } from 'preact'
import type { FleetWorker } from '../../../src/engine/runner/work/fleet-view.ts'
import { formatDuration } from '../ui/format.ts'
import { Time } from '../ui/Time.tsx'
import { visibleLine } from '../ui/visible-text.ts'

/** The most workers that are listed one by one. Lost ones come first. */
const MOST = 200

/** The workers of an app. */
export function WorkerTable({ workers }: { readonly workers: readonly FleetWorker[] }): JSX.Element {
  const sorted = workers.toSorted((one, other) => Number(other.isLost) - Number(one.isLost))
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the table is scrolled with the keyboard */}
      <section class="table-scroll" aria-label="Workers" tabIndex={0}>
        <table class="workers">
          <thead>
            <tr>
              {['Worker', 'Agents', 'Version', 'Running', 'Continued', 'Crashes', 'Started', 'Last seen'].map(
                (head) => (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, MOST).map((worker) => (
              <Row key={worker.id} worker={worker} />
            ))}
          </tbody>
        </table>
      </section>
      {workers.length > MOST && <p class="muted">and {workers.length - MOST} more</p>}
    </>
  )
}

function Row({ worker }: { readonly worker: FleetWorker }): JSX.Element {
  const { id, label, engine, agents, version, running, continued, crashes, startedAt, unseenMs, isLost } = worker
  return (
    <tr class={isLost ? 'lost' : undefined}>
      <th scope="row">
        {visibleLine(label ?? id.slice(0, 8))} {engine === 'restate' && <span class="tag">Restate</span>}
      </th>
      <td>{visibleLine(agents)}</td>
      <td>{visibleLine(version)}</td>
      <td>{running}</td>
      <td>{continued}</td>
      <td>{crashes}</td>
      <td>
        <Time seconds={startedAt / 1_000} />
      </td>
      <td>{isLost ? `lost, ${formatDuration(unseenMs)} ago` : `${formatDuration(unseenMs)} ago`}</td>
    </tr>
  )
}
