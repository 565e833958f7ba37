import type { ComponentChildren, JSX } from 'preact'
import { describeFailedAttempt } from '../../../src/core/event/failed-attempts.ts'
import { roundOf } from '../../../src/core/event/scope.ts'
import type { SessionKey } from '../api/types.ts'
import { CallDetails } from '../calls/CallDetails.tsx'
import { ErrorStack } from '../calls/ErrorStack.tsx'
import { ModelCallDetails } from '../calls/ModelCallDetails.tsx'
import { shownResult } from '../calls/shown-result.ts'
import { Button } from '../ui/Button.tsx'
import { formatDuration } from '../ui/format.ts'
import { Section } from '../ui/Section.tsx'
import { Tokens } from '../ui/Tokens.tsx'
import { Tree } from '../ui/Tree.tsx'
import { VisibleText } from '../ui/VisibleText.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { statusText, waitedMs, waitText } from './describe-step.ts'
import type { Step } from './timeline.ts'

/** Props of the details of a step. */
export interface StepDetailsProps {
  /** The step. */
  readonly step: Step
  /** When its timeline began. */
  readonly start: number
  /** The session of the step. */
  readonly sessionKey: SessionKey
  /** Shows the step in the chat. Undefined: the step is not in this session. */
  readonly onOpen?: (() => void) | undefined
  /** More to do with the step. */
  readonly children?: ComponentChildren
}

/** Everything about one step. */
export function StepDetails({ step, start, sessionKey, onOpen, children }: StepDetailsProps): JSX.Element {
  const {
    name,
    agent,
    kind,
    from,
    to,
    usage,
    failedModels = [],
    failedAttempts = [],
    waits,
    error,
    args,
    call,
    eventId,
  } = step
  const round = roundOf(step.path)
  const result = call?.response ? shownResult(call.response.response, call.error !== undefined) : step.result
  const waited = waitedMs(step)
  return (
    <section class="step-details" aria-label="Selected step">
      <header>
        <h2>
          <VisibleText text={name} />
        </h2>
        <span class={`step-status ${step.status}`}>{statusText(step)}</span>
        <Tokens usage={usage} />
        {onOpen && step.eventId !== '' && (
          <Button kind="plain" icon="chat" onClick={onOpen}>
            Show in chat
          </Button>
        )}
        {children}
      </header>
      <dl class="step-facts">
        <Fact name="Agent">{visibleLine(agent)}</Fact>
        {round > 1 && <Fact name="Round">{String(round)}</Fact>}
        <Fact name="Started after">{formatDuration(from - start)}</Fact>
        <Fact name="Took">{formatDuration(to - from)}</Fact>
        {waited > 0 && <Fact name="Waited">{formatDuration(waited)}</Fact>}
      </dl>
      {waits.map((wait) => (
        <p key={wait.from} class="wait-line">
          {waitText(wait)}: {formatDuration(wait.to - wait.from)}
          {wait.answer && `, ${visibleLine(wait.answer)}`}
        </p>
      ))}
      {failedModels.map(({ model, code, message }, at) => (
        <p key={at} class="field-issue">
          {visibleLine(`${model} failed${code ? ` (${code})` : ''}: ${message}`)}
        </p>
      ))}
      {failedAttempts.map((failed) => (
        <p key={failed.attempt} class="field-issue">
          {visibleLine(describeFailedAttempt(failed))}, after{' '}
          {formatDuration((failed.endedAt - failed.startedAt) * 1000)}
        </p>
      ))}
      {error !== undefined && <p class="field-issue">{visibleLine(error)}</p>}
      {call && call.eventId !== '' && (
        // closed at first: the step under the pointer changes often, and each is read from the server
        <Section key={step.id} title="Details">
          <CallDetails call={call} sessionKey={sessionKey} />
          {call.error && <ErrorStack callId={step.id} sessionKey={sessionKey} />}
        </Section>
      )}
      {kind === 'model' && eventId !== '' && (
        <Section key={step.id} title="Request and reply">
          <ModelCallDetails sessionKey={sessionKey} eventId={eventId} />
        </Section>
      )}
      <div class="step-values">
        {args !== undefined && (
          <div>
            <h3>Arguments</h3>
            <Tree key={step.id} label="Arguments" value={args} />
          </div>
        )}
        {result !== undefined && result !== '' && (
          <div>
            <h3>{kind === 'tool' ? 'Result' : 'Reply'}</h3>
            <Tree key={step.id} label="Result" value={result} />
          </div>
        )}
      </div>
    </section>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: string }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
