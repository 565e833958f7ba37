import type { JSX } from 'preact'
import type { AppRequest } from '../inbox/app-request.ts'
import { ConfirmationForm } from './ConfirmationForm.tsx'
import { ConsentForm } from './ConsentForm.tsx'
import { InputForm } from './InputForm.tsx'
import { Question } from './Question.tsx'
import { ResultForm } from './ResultForm.tsx'

/** Shows what a request asks, and the form that answers it. */
export function RequestForm({ target }: { readonly target: AppRequest }): JSX.Element {
  const { kind, tool, hint } = target.request
  return (
    <div class="request">
      {kind !== 'confirmation' && <Question tool={tool} hint={hint} />}
      <Form target={target} />
    </div>
  )
}

function Form({ target }: { readonly target: AppRequest }): JSX.Element {
  switch (target.request.kind) {
    case 'confirmation':
      return <ConfirmationForm target={target} />
    case 'input':
      return <InputForm target={target} />
    case 'credential':
      return <ConsentForm target={target} />
    default:
      return <ResultForm target={target} />
  }
}
