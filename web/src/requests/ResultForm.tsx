import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { responseTo } from '../../../src/core/event/write-answer.ts'
import type { AppRequest } from '../inbox/app-request.ts'
import { Button } from '../ui/Button.tsx'
import { visibleLine, visibleText } from '../ui/visible-text.ts'
import { ExactValue } from './ExactValue.tsx'
import { Problem } from './Problem.tsx'
import { useAnswer } from './use-answer.ts'

/** Sends the result of a long-running call: one of the options of `get_user_choice`, or any JSON. */
export function ResultForm({ target }: { readonly target: AppRequest }): JSX.Element {
  const { tool, args } = target.request
  const options = tool === 'get_user_choice' && Array.isArray(args.options) ? args.options.map(String) : []
  return options.length > 0 ? <Choice target={target} options={options} /> : <AnyResult target={target} />
}

function Choice({
  target,
  options,
}: {
  readonly target: AppRequest
  readonly options: readonly string[]
}): JSX.Element {
  const answer = useAnswer(target)
  const { hint } = target.request
  const { prompt, message } = target.request.args
  return (
    <div class="request-form">
      {hint === undefined && <p class="question">{visibleText(String(prompt ?? message ?? 'Choose one'))}</p>}
      <Problem text={answer.problem} />
      <div class="request-actions">
        {options.map((option) => (
          <Button
            key={option}
            disabled={answer.isSending}
            onClick={() => answer.send(responseTo(target.request, option))}
          >
            {visibleLine(option)}
          </Button>
        ))}
      </div>
    </div>
  )
}

function AnyResult({ target }: { readonly target: AppRequest }): JSX.Element {
  const answer = useAnswer(target)
  const [text, setText] = useState('{}')
  const [problem, setProblem] = useState('')
  const send = (event: Event): void => {
    event.preventDefault()
    try {
      answer.send(responseTo(target.request, JSON.parse(text)))
      setProblem('')
    } catch {
      setProblem('This is not JSON. Write an object such as {"status": "shipped"}.')
    }
  }
  return (
    <form class="request-form" onSubmit={send}>
      <ExactValue value={target.request.args} label="Arguments" />
      {target.request.handle && <ExactValue value={target.request.handle} label="Handle" />}
      <p class="field-hint">The result of this call comes from elsewhere. You can also send it here.</p>
      <label class="field">
        Result as JSON
        <textarea class="code" rows={3} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <Problem text={problem || answer.problem} />
      <div class="request-actions">
        <Button icon="send" type="submit" disabled={answer.isSending}>
          Send result
        </Button>
      </div>
    </form>
  )
}
