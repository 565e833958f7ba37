import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { isRecord, type JsonObject } from '../../../src/core/base/json.ts'
import { approvalOf, denialOf } from '../../../src/core/event/write-answer.ts'
import type { AppRequest } from '../inbox/app-request.ts'
import { Button } from '../ui/Button.tsx'
import { SchemaForm, startForm } from '../ui/schema-form/SchemaForm.tsx'
import { Changes, Edits } from './Changes.tsx'
import { ExactValue } from './ExactValue.tsx'
import { Problem } from './Problem.tsx'
import { findPreviousRequest, type PreviousRequest } from './previous-request.ts'
import { Question } from './Question.tsx'
import { useAnswer, useIsDrawn } from './use-answer.ts'
import { usePreview } from './use-preview.ts'

type Comparison =
  | { readonly state: 'loading' | 'failed' }
  | { readonly state: 'ready'; readonly previous: PreviousRequest | undefined }

/** Approves or denies a call. Approving is possible when everything that the approver must see is on the page. */
export function ConfirmationForm({ target }: { readonly target: AppRequest }): JSX.Element {
  const { request } = target
  const answer = useAnswer(target)
  const comparison = useComparison(target)
  const isDrawn = useIsDrawn()
  const [reason, setReason] = useState('')
  const [edited, setEdited] = useState<JsonObject>()
  const [isEditing, setEditing] = useState(false)
  const args = edited ?? request.args
  const preview = usePreview(target, edited)
  const isAsked = edited ? preview.state === 'ready' : comparison.state !== 'loading'
  const isReady = isDrawn && isAsked && !answer.isSending && !isEditing
  const isLoading = comparison.state === 'loading' || preview.state === 'loading'
  const hint = preview.state === 'ready' ? preview.hint : edited ? undefined : request.hint
  return (
    <div class="request-form">
      {!isEditing && <Question tool={request.tool} hint={hint} />}
      {isEditing ? (
        <EditForm
          target={target}
          args={args}
          onCancel={() => setEditing(false)}
          onSave={(value) => {
            setEdited(value)
            setEditing(false)
          }}
        />
      ) : (
        <ExactValue value={args} label={edited ? 'Edited arguments' : 'Arguments'} />
      )}
      {request.payload !== undefined && (
        <details class="more">
          <summary>Data for the approver</summary>
          <ExactValue value={request.payload} label="Data for the approver" />
        </details>
      )}
      {comparison.state === 'ready' && !edited && <Changes previous={comparison.previous} args={args} />}
      {comparison.state === 'failed' && <p class="field-hint">The last request could not be read to compare.</p>}
      {edited && <Edits requested={request} edited={{ hint, args }} />}
      <label class="field">
        Reason for a denial
        <input value={reason} maxLength={2000} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
      <Problem text={preview.state === 'failed' ? preview.problem : answer.problem} />
      <div class="request-actions">
        <Button
          kind="primary"
          icon="check"
          disabled={!isReady}
          onClick={() => answer.send(approvalOf(request, edited ? { args: edited } : {}))}
        >
          {edited ? 'Approve edited' : 'Approve'}
        </Button>
        <Button
          kind="danger"
          icon="close"
          disabled={answer.isSending}
          onClick={() => answer.send(denialOf(request, reason.trim() ? { reason: reason.trim() } : {}))}
        >
          Deny
        </Button>
        {request.editable && !isEditing && (
          <Button icon="edit" disabled={answer.isSending} onClick={() => setEditing(true)}>
            Edit arguments
          </Button>
        )}
        <span class="muted" role="status">
          {answer.isSending ? 'Sending…' : isLoading ? 'Loading…' : ''}
        </span>
      </div>
    </div>
  )
}

interface EditProps {
  readonly target: AppRequest
  readonly args: JsonObject
  onSave(args: JsonObject): void
  onCancel(): void
}

/** Edits the arguments. The edited arguments are shown again for approval. */
function EditForm({ target, args, onSave, onCancel }: EditProps): JSX.Element {
  const schema = target.request.schema ?? { type: 'object' }
  const [form, setForm] = useState(() => startForm(schema, args))
  const [showsIssues, setShowsIssues] = useState(false)
  const save = (): void => {
    setShowsIssues(true)
    if (form.issues.length === 0 && isRecord(form.value)) onSave(form.value)
  }
  return (
    <div class="edit-form">
      <SchemaForm {...{ schema, form, showsIssues }} label="Arguments" onChange={setForm} />
      <div class="request-actions">
        <Button kind="primary" onClick={save}>
          Use these arguments
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </div>
  )
}

function useComparison({ app, request }: AppRequest): Comparison {
  const [comparison, setComparison] = useState<Comparison>({ state: 'loading' })
  useEffect(() => {
    const controller = new AbortController()
    const { userId, sessionId } = request
    findPreviousRequest({ app, userId, sessionId }, request, controller.signal).then(
      (previous) => setComparison({ state: 'ready', previous }),
      () => {
        if (!controller.signal.aborted) setComparison({ state: 'failed' })
      },
    )
    return () => controller.abort()
  }, [app, request.id])
  return comparison
}
