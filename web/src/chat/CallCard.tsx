import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { isRecord } from '../../../src/base/json.ts'
import { describeFailedAttempt } from '../../../src/event/failed-attempts.ts'
import { isGranted } from '../../../src/event/read-answer.ts'
import type { SessionKey } from '../api/types.ts'
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
import { type AnsweredRequest, type CallRow, type CallStatus, changedArgsOf, statusOf, waitedSeconds } from './rows.ts'

/** Props of a card. */
export interface CallCardProps {
  /** The call. */
  readonly row: CallRow
  /** The session of the call. */
  readonly sessionKey: SessionKey
  /** The latest progress; undefined if there is none. */
  readonly progress: unknown
}

const STATUS: { readonly [Status in CallStatus]: { readonly label: string; readonly icon: IconName } } = {
  running: { label: 'Running', icon: 'clock' },
  waiting: { label: 'Waiting', icon: 'clock' },
  done: { label: 'Done', icon: 'check' },
  failed: { label: 'Failed', icon: 'warning' },
  denied: { label: 'Denied', icon: 'close' },
  stopped: { label: 'Stopped', icon: 'stop' },
}

/** A tool call: what it was called with, how it is doing, what it returned, who approved it. */
export function CallCard({ row, sessionKey, progress }: CallCardProps): JSX.Element {
  const status = statusOf(row)
  const open = useSignal(pending)?.find((one) => status === 'waiting' && isOf(one, row, sessionKey))
  const { label, icon } = STATUS[status]
  const changedArgs = changedArgsOf(row)
  const args = changedArgs ?? row.args
  return (
    <article class={`card ${status}`} aria-label={`Call of ${visibleLine(row.name)}: ${label}`}>
      <header class="card-head">
        <span class="status">
          <Icon name={icon} /> {label}
        </span>
        <strong class="tool-name">{visibleLine(row.name)}</strong>
        <span class="muted">{visibleLine(row.author)}</span>
        {row.attempt > 1 && <span class="tag">attempt {row.attempt}</span>}
        {row.starts > 1 && <span class="tag">started {row.starts} times</span>}
        <span class="card-time">
          {status === 'waiting' || status === 'stopped' ? (
            <Time seconds={row.timestamp} />
          ) : (
            <Elapsed from={row.startedAt ?? row.timestamp + waitedSeconds(row)} to={row.endedAt} />
          )}
        </span>
      </header>
      {open ? (
        <RequestForm key={open.request.id} target={open} />
      ) : (
        <Section title="Arguments" isOpen={status !== 'done'} summary={previewJson(args)}>
          <Tree value={args} label="Arguments" />
        </Section>
      )}
      {!open && changedArgs && (
        <p class="field-hint">Changed before the call. The model sent {previewJson(row.args)}</p>
      )}
      {status === 'running' && progress !== undefined && <Progress value={progress} />}
      {row.requests.map((request) => (
        <Answer key={request.record.id} request={request} userId={sessionKey.userId} />
      ))}
      {row.failedAttempts?.map((failed) => (
        <p key={failed.attempt} class="field-issue">
          <VisibleText text={describeFailedAttempt(failed)} />
        </p>
      ))}
      <Result row={row} status={status} />
      {status === 'failed' && <ErrorStack sessionKey={sessionKey} callId={row.id} />}
    </article>
  )
}

function isOf({ app, request }: AppRequest, row: CallRow, key: SessionKey): boolean {
  // the list of requests may be older than the row
  const isAnswered = row.requests.some(({ record, answer }) => record.id === request.id && answer)
  const isHere = app === key.app && request.sessionId === key.sessionId
  return isHere && request.functionCallId === row.id && !isAnswered
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
function Answer({
  request,
  userId,
}: {
  readonly request: AnsweredRequest
  readonly userId: string
}): JSX.Element | null {
  const { answer, record } = request
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
      <Icon name={record.kind === 'credential' ? 'key' : 'shield'} />
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

function Result({ row, status }: { readonly row: CallRow; readonly status: CallStatus }): JSX.Element | null {
  const { response } = row
  if (!response || response.willContinue) return null
  const { error, errorCode } = response.response
  const value = onlyResult(response.response)
  return (
    <>
      {typeof error === 'string' && (
        <p class={status === 'failed' ? 'problem' : 'answer'}>
          <Icon name="warning" />
          <span>
            {typeof errorCode === 'string' && <strong>{visibleLine(errorCode)} </strong>}
            {visibleText(error)}
          </span>
        </p>
      )}
      <Section title="Result" isOpen={typeof error !== 'string'} summary={previewJson(value)}>
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
