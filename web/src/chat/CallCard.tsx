import type { ComponentChildren, JSX } from 'preact'
import type { Part } from '../../../src/core/content/content.ts'
import { describeFailedAttempt } from '../../../src/core/event/failed-attempts.ts'
import { isGranted } from '../../../src/core/event/read-answer.ts'
import { roundOf } from '../../../src/core/event/scope.ts'
import type { CallStatus, CallView, RequestView } from '../../../src/core/event/views/views.ts'
import { waitedSeconds } from '../../../src/core/event/views/waited-seconds.ts'
import type { SessionKey } from '../api/types.ts'
import { RerunButton } from '../bench/RerunButton.tsx'
import { attemptOf } from '../calls/attempt-of.ts'
import { CallDetails } from '../calls/CallDetails.tsx'
import { ErrorStack } from '../calls/ErrorStack.tsx'
import { ModelCallDetails } from '../calls/ModelCallDetails.tsx'
import { shownResult } from '../calls/shown-result.ts'
import { CallCopyMenu } from '../copy/CopyMenu.tsx'
import type { AppRequest } from '../inbox/app-request.ts'
import { pending } from '../inbox/pending-store.ts'
import { RequestForm } from '../requests/RequestForm.tsx'
import { useSignal } from '../state/signal.ts'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { previewJson } from '../ui/preview-json.ts'
import { Section } from '../ui/Section.tsx'
import { Elapsed, Time } from '../ui/Time.tsx'
import { Tree } from '../ui/Tree.tsx'
import { VisibleText } from '../ui/VisibleText.tsx'
import { visibleLine, visibleText } from '../ui/visible-text.ts'
import { MediaPart } from './MediaPart.tsx'
import { Progress } from './Progress.tsx'

/** Props of a card. */
export interface CallCardProps {
  /** The call. */
  readonly call: CallView
  /** The session of the call. */
  readonly sessionKey: SessionKey
  /** The latest progress; undefined if there is none. */
  readonly progress: unknown
  /** The files of the result. */
  readonly media?: readonly Part[]
  /** What the agent inside the call did. */
  readonly children?: ComponentChildren
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
export function CallCard({ call, sessionKey, progress, media, children }: CallCardProps): JSX.Element {
  const { status, changedArgs } = call
  const open = useSignal(pending)?.find((one) => status === 'waiting' && isOf(one, call, sessionKey))
  const { label, icon } = STATUS[status]
  const args = changedArgs ?? call.args
  const round = roundOf(call.path)
  const attempt = attemptOf(call)
  return (
    <article class={`card ${status}`} aria-label={`Call of ${visibleLine(call.name)}: ${label}`}>
      <header class="card-head">
        <span class="status">
          <Icon name={icon} /> {label}
        </span>
        <strong class="tool-name">{visibleLine(call.name)}</strong>
        <span class="muted">{visibleLine(call.agent)}</span>
        {round > 1 && <span class="tag">round {round}</span>}
        {attempt > 1 && <span class="tag">attempt {attempt}</span>}
        {call.starts > 1 && <span class="tag">started {call.starts} times</span>}
        <span class="card-time">
          {status === 'waiting' || (status === 'cancelled' && call.endedAt === undefined) ? (
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
      {children}
      <Result call={call} {...(media && { media })} />
      {sessionKey.sessionId !== '' && !call.isImported && (
        <>
          {(status === 'failed' || status === 'unknown') && <ErrorStack sessionKey={sessionKey} callId={call.id} />}
          <Section title="Details">
            <CallDetails call={call} sessionKey={sessionKey} />
            {call.eventId !== '' && (
              <Section title="Model call">
                <ModelCallDetails sessionKey={sessionKey} eventId={call.eventId} />
              </Section>
            )}
          </Section>
        </>
      )}
    </article>
  )
}

function isOf({ app, request }: AppRequest, call: CallView, key: SessionKey): boolean {
  // the list of requests may be older than the call
  const isAnswered = call.requests.some(({ id, answer }) => id === request.id && answer)
  const isHere = app === key.app && request.sessionId === key.sessionId
  return isHere && request.functionCallId === call.id && !isAnswered
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

interface ResultProps extends Pick<CallCardProps, 'call' | 'media'> {}

function Result({ call, media = [] }: ResultProps): JSX.Element | null {
  const { response, error, status } = call
  if (!response) return null
  const value = shownResult(response.response, error !== undefined)
  const files = [...(response.parts ?? []), ...media]
  return (
    <>
      {error && error.code !== 'CANCELLED' && (
        <p class={status === 'failed' || status === 'unknown' ? 'problem' : 'answer'}>
          <Icon name="warning" />
          <span>
            {error.code !== undefined && <strong>{visibleLine(error.code)} </strong>}
            {visibleText(error.message)}
          </span>
        </p>
      )}
      {value !== undefined && (
        <Section title="Result" isOpen={!error} summary={previewJson(value)}>
          <Tree value={value} label="Result" openLevels={1} />
        </Section>
      )}
      {files.map((part, at) => (
        <MediaPart key={at} part={part} />
      ))}
    </>
  )
}
