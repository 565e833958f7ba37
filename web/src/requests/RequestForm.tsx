import type { JSX } from 'preact'
import type { AppRequest } from '../inbox/app-request.ts'
import { visibleText } from '../ui/visible-text.ts'
import { ConfirmationForm } from './ConfirmationForm.tsx'
import { ConsentForm } from './ConsentForm.tsx'
import { InputForm } from './InputForm.tsx'
import { ResultForm } from './ResultForm.tsx'

/** Shows what a request asks, and the form that answers it. */
export function RequestForm({ target }: { readonly target: AppRequest }): JSX.Element {
  const { hint, tool } = target.request
  const isGeneric = hint === undefined || hint === `Approve execution of tool \`${tool}\`?`
  return (
    <div class="request">
      {!isGeneric && <p class="question">{visibleText(hint)}</p>}
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
