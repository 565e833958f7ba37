import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { denialOf, responseTo } from '../../../src/core/event/write-answer.ts'
import type { AppRequest } from '../inbox/app-request.ts'
import { Button } from '../ui/Button.tsx'
import { SchemaForm, startForm } from '../ui/schema-form/SchemaForm.tsx'
import { Problem } from './Problem.tsx'
import { useAnswer } from './use-answer.ts'

/** Any text: the schema of a request without one. */
const TEXT = { type: 'string', minLength: 1 }

/** Answers a request for input with a form made from its schema. */
export function InputForm({ target }: { readonly target: AppRequest }): JSX.Element {
  const { request } = target
  const schema = request.schema ?? TEXT
  const answer = useAnswer(target)
  const [form, setForm] = useState(() => startForm(schema))
  const [showsIssues, setShowsIssues] = useState(false)
  const send = (event: Event): void => {
    event.preventDefault()
    setShowsIssues(true)
    if (form.issues.length === 0) answer.send(responseTo(request, form.value ?? null))
  }
  return (
    <form class="request-form" onSubmit={send} noValidate>
      <SchemaForm {...{ schema, form, showsIssues }} label="Answer" onChange={setForm} />
      <Problem text={answer.problem} />
      <div class="request-actions">
        <Button kind="primary" icon="send" type="submit" disabled={answer.isSending}>
          Send answer
        </Button>
        <Button kind="danger" disabled={answer.isSending} onClick={() => answer.send(denialOf(request))}>
          Decline
        </Button>
      </div>
    </form>
  )
}
