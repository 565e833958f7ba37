import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../ui/Button.tsx'
import { formatDuration } from '../ui/format.ts'
import { visibleLine } from '../ui/visible-text.ts'
import { statusText, tokensOf, waitedMs } from './describe-step.ts'
import type { Step, Timeline } from './timeline.ts'

const ROWS = 200

/** The steps of a timeline as a table. */
export function StepTable({
  timeline,
  onSelect,
}: {
  readonly timeline: Timeline
  onSelect(step: Step): void
}): JSX.Element {
  const [shown, setShown] = useState(ROWS)
  const { steps, start } = timeline
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
    <section class="table-scroller" aria-label="Steps" tabIndex={0}>
      <table class="step-table">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Agent</th>
            <th scope="col">Start</th>
            <th scope="col">Duration</th>
            <th scope="col">Waited</th>
            <th scope="col">Tokens</th>
            <th scope="col">Outcome</th>
          </tr>
        </thead>
        <tbody>
          {steps.slice(0, shown).map((step) => (
            <tr key={step.id}>
              <th scope="row">
                <button type="button" class="link" onClick={() => onSelect(step)}>
                  {visibleLine(step.name)}
                </button>
              </th>
              <td>{visibleLine(step.agent)}</td>
              <td>{formatDuration(step.from - start)}</td>
              <td>{formatDuration(step.to - step.from)}</td>
              <td>{step.waits.length > 0 ? formatDuration(waitedMs(step)) : ''}</td>
              <td>{tokensOf(step) ?? ''}</td>
              <td>{statusText(step)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {steps.length > shown && (
        <Button onClick={() => setShown(shown + ROWS)}>Show more of {steps.length} steps</Button>
      )}
    </section>
  )
}
