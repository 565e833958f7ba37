import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { isRecord } from '../../../src/core/base/json.ts'
import { describeFailedAttempt } from '../../../src/core/event/failed-attempts.ts'
import { isGranted } from '../../../src/core/event/read-answer.ts'
import type { CallStatus, CallView, RequestView } from '../../../src/core/event/views/views.ts'
import { waitedSeconds } from '../../../src/core/event/views/waited-seconds.ts'
import type { SessionKey } from '../api/types.ts'
import { RerunButton } from '../bench/RerunButton.tsx'
import { CallCopyMenu } from '../copy/CopyMenu.tsx'
import type { AppRequest } from '../inbox/app-request.ts'
import { pending } from '../inbox/pending-store.ts'
import { RequestForm } from '../requests/RequestForm.tsx'
import { useSignal } from '../state/signal.ts'
import { FilePreview } from '../ui/FilePreview.tsx'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { previewJson } from '../ui/preview-json.ts'
import { Elapsed, Time } from '../ui/Time.tsx'
import { Tree } from '../ui/Tree.tsx'
import { VisibleText } from '../ui/VisibleText.tsx'
import { visibleLine, visibleText } from '../ui/visible-text.ts'
import { ErrorStack } from './ErrorStack.tsx'
import { Progress } from './Progress.tsx'

/** Props of a card. */
export interface CallCardProps {
  /** The call. */
  readonly call: CallView
  /** The session of the call. */
  readonly sessionKey: SessionKey
  /** The latest progress; undefined if there is none. */
  readonly progress: unknown
}

const STATUS: { readonly [Status in CallStatus]: { readonly label: string; readonly icon: IconName } } = {
  running: { label: 'Running', icon: 'clock' },
  waiting: { label: 'Waiting', icon: 'clock' },
  completed: { label: 'Done', icon: 'check' },
  failed: { label: 'Failed', icon: 'warning' },
  denied: { label: 'Denied', icon: 'close' },
  cancelled: { label: 'Stopped', icon: 'stop' },
  unknown: { label: 'Unknown outcome', icon: 'warning' },
}

/** A tool call: what it was called with, how it is doing, what it returned, who approved it. */
export function CallCard({ call, sessionKey, progress }: CallCardProps): JSX.Element {
  const { status, changedArgs } = call
  const open = useSignal(pending)?.find((one) => status === 'waiting' && isOf(one, call, sessionKey))
  const { label, icon } = STATUS[status]
  const args = changedArgs ?? call.args
  return (
    <article class={`card ${status}`} aria-label={`Call of ${visibleLine(call.name)}: ${label}`}>
      <header class="card-head">
        <span class="status">
          <Icon name={icon} /> {label}
        </span>
        <strong class="tool-name">{visibleLine(call.name)}</strong>
        <span class="muted">{visibleLine(call.agent)}</span>
        {call.attempt > 1 && <span class="tag">attempt {call.attempt}</span>}
        {call.starts > 1 && <span class="tag">started {call.starts} times</span>}
        <span class="card-time">
          {status === 'waiting' || status === 'cancelled' ? (
            <Time seconds={call.madeAt} />
          ) : (
            <Elapsed from={call.startedAt ?? call.madeAt + waitedSeconds(call)} to={call.endedAt} />
          )}
        </span>
        <CallCopyMenu call={call} sessionKey={sessionKey} />
        {call.response && <RerunButton app={sessionKey.app} call={call} />}
      </header>
      {open ? (
        <RequestForm key={open.request.id} target={open} />
      ) : (
        <Section title="Arguments" isOpen={status !== 'completed'} summary={previewJson(args)}>
          <Tree value={args} label="Arguments" />
        </Section>
      )}
      {!open && changedArgs && (
        <p class="field-hint">Changed before the call. The model sent {previewJson(call.args)}</p>
      )}
      {status === 'running' && progress !== undefined && <Progress value={progress} />}
      {call.requests.map((request) => (
        <Answer key={request.id} request={request} userId={sessionKey.userId} />
      ))}
      {call.failedAttempts.map((failed) => (
        <p key={failed.attempt} class="field-issue">
          <VisibleText text={describeFailedAttempt(failed)} />
        </p>
      ))}
      <Result call={call} />
      {(status === 'failed' || status === 'unknown') && <ErrorStack sessionKey={sessionKey} callId={call.id} />}
    </article>
  )
}

function isOf({ app, request }: AppRequest, call: CallView, key: SessionKey): boolean {
  // the list of requests may be older than the call
  const isAnswered = call.requests.some(({ id, answer }) => id === request.id && answer)
  const isHere = app === key.app && request.sessionId === key.sessionId
  return isHere && request.functionCallId === call.id && !isAnswered
}

interface SectionProps {
  readonly title: string
  readonly isOpen: boolean
  readonly summary: string
  readonly children: ComponentChildren
}

function Section({ title, isOpen, summary, children }: SectionProps): JSX.Element {
  const [opened, setOpened] = useState<boolean>()
  const isShown = opened ?? isOpen
  return (
    <div class="card-section">
      <button type="button" class="section-toggle" aria-expanded={isShown} onClick={() => setOpened(!isShown)}>
        <Icon name="chevron" /> {title}
        {!isShown && <span class="summary">{summary}</span>}
      </button>
      {isShown && <div class="section-body">{children}</div>}
    </div>
  )
}

/** Who answered a request of the call, and when. */
function Answer({ request, userId }: { readonly request: RequestView; readonly userId: string }): JSX.Element | null {
  const { answer, kind } = request
  if (!answer) return null
  const verb = {
    approved: 'Approved',
    denied: 'Denied',
    declined: 'Declined',
    answered: 'Answered',
    authorized: 'Signed in',
    failed: 'Sign-in failed',
    expired: 'Expired',
  }
  return (
    <p class={isGranted(answer) ? 'answer good' : 'answer'}>
      <Icon name={kind === 'credential' ? 'key' : 'shield'} />
      <span>
        {verb[answer.type]}
        {answer.at !== undefined && (
          <>
            {' '}
            by {visibleLine(userId)}, <Time seconds={answer.at} />
          </>
        )}
        {'args' in answer && answer.args && ', with edited arguments'}
        {'reason' in answer && answer.reason && `: ${visibleText(answer.reason)}`}
      </span>
    </p>
  )
}

function Result({ call }: { readonly call: CallView }): JSX.Element | null {
  const { response, error, status } = call
  if (!response) return null
  const value = onlyResult(response.response)
  return (
    <>
      {error && (
        <p class={status === 'failed' || status === 'unknown' ? 'problem' : 'answer'}>
          <Icon name="warning" />
          <span>
            {error.code !== undefined && <strong>{visibleLine(error.code)} </strong>}
            {visibleText(error.message)}
          </span>
        </p>
      )}
      <Section title="Result" isOpen={!error} summary={previewJson(value)}>
        <Tree value={value} label="Result" openLevels={1} />
        {response.parts?.map((part, at) => part.inlineData && <FilePreview key={at} media={part.inlineData} />)}
      </Section>
    </>
  )
}

/** A result that is not an object is wrapped as `{ result }`. */
function onlyResult(response: unknown): unknown {
  return isRecord(response) && Object.keys(response).length === 1 && 'result' in response ? response.result : response
}
