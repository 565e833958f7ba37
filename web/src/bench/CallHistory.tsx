import type { JSX } from 'preact'
import type { JsonObject } from '../../../src/core/base/json.ts'
import { Button } from '../ui/Button.tsx'
import { Time } from '../ui/Time.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import type { BenchRun } from './bench-run.ts'

/** Props of the history. */
export interface CallHistoryProps {
  /** The calls of the tool, the latest first. */
  readonly runs: readonly BenchRun[]
  /** The call that is shown. */
  readonly shown: BenchRun | undefined
  /** Called with the call to show. */
  onShow(run: BenchRun): void
  /** Called with arguments to use again. */
  onReuse(args: JsonObject): void
}

const MOST_CHARACTERS = 200

/** The calls of a tool in this browser tab. */
export function CallHistory({ runs, shown, onShow, onReuse }: CallHistoryProps): JSX.Element {
  return (
    <section class="call-history" aria-label="Calls in this tab">
      <h2>Calls in this tab</h2>
      <ul>
        {runs.map((run) => {
          const text = visibleLine(JSON.stringify(run.call.args))
          return (
            <li key={run.id}>
              <button type="button" class="link" aria-pressed={run === shown} onClick={() => onShow(run)}>
                <Time seconds={run.startedAt} />
                <code>{text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text}</code>
              </button>
              <Button
                kind="plain"
                icon="retry"
                label="Use these arguments again"
                onClick={() => onReuse(run.call.args)}
              />
            </li>
          )
        })}
      </ul>
    </section>
  )
}
