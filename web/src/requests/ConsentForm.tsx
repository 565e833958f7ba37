import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { denialOf, responseTo } from '../../../src/core/event/write-answer.ts'
import { type AuthorizationLink, readAuthorizationLink } from '../../../src/services/auth/consent/authorization-link.ts'
import type { AppRequest } from '../inbox/app-request.ts'
import { Button } from '../ui/Button.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { CONSENT_CHANNEL } from './consent-channel.ts'
import { Problem } from './Problem.tsx'
import { type AnswerState, useAnswer } from './use-answer.ts'

/** Signs in at a provider in a window of its own, and sends the address that the provider returns to. */
export function ConsentForm({ target }: { readonly target: AppRequest }): JSX.Element {
  const { request } = target
  const answer = useAnswer(target)
  const link = readAuthorizationLink(request.authUri)
  return (
    <div class="request-form">
      {link ? (
        <SignIn
          link={link}
          answer={answer}
          onCallback={(uri) => answer.send(responseTo(request, { authResponseUri: uri }))}
        />
      ) : (
        <p class="warning">This request has no address that a browser may open. Store the credential, or decline.</p>
      )}
      <Problem text={answer.problem} />
      <div class="request-actions">
        <Button kind="danger" disabled={answer.isSending} onClick={() => answer.send(denialOf(request))}>
          Decline
        </Button>
      </div>
    </div>
  )
}

interface SignInProps {
  readonly link: AuthorizationLink
  readonly answer: AnswerState
  onCallback(uri: string): void
}

function SignIn({ link, answer, onCallback }: SignInProps): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  const [pasted, setPasted] = useState('')
  const problem = pasted === '' ? '' : (callbackProblem(pasted, link) ?? '')
  useEffect(() => {
    const channel = new BroadcastChannel(CONSENT_CHANNEL)
    channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (typeof data === 'string' && callbackProblem(data, link) === undefined) onCallback(data)
    }
    return () => channel.close()
  }, [link.href])
  const open = (): void => {
    // without an opener, a page of the provider cannot reach the workbench
    window.open(link.href, '_blank', 'noopener,noreferrer,popup,width=520,height=720')
    setOpen(true)
  }
  return (
    <>
      <dl class="facts">
        <dt>Provider</dt>
        <dd>{visibleLine(link.origin)}</dd>
        <dt>Scopes</dt>
        <dd>{link.scopes.length > 0 ? visibleLine(link.scopes.join(', ')) : 'not stated'}</dd>
        <dt>Address</dt>
        <dd class="address">{visibleLine(link.href)}</dd>
      </dl>
      <div class="request-actions">
        <Button kind="primary" icon="key" disabled={answer.isSending} onClick={open}>
          Sign in
        </Button>
        <span class="muted" role="status">
          {answer.isSending ? 'Sending…' : isOpen ? 'Waiting for the sign-in window…' : ''}
        </span>
      </div>
      <details class="more">
        <summary>The window does not come back?</summary>
        <label class="field">
          Address that the window shows after the sign-in
          <input value={pasted} onInput={(event) => setPasted(event.currentTarget.value)} />
        </label>
        <Problem text={problem} />
        <Button disabled={pasted === '' || problem !== '' || answer.isSending} onClick={() => onCallback(pasted)}>
          Use this address
        </Button>
      </details>
    </>
  )
}

/** Why a text is not the callback of this sign-in; undefined if it is. */
function callbackProblem(text: string, { state }: AuthorizationLink): string | undefined {
  if (!URL.canParse(text)) return 'This is not an address. Paste all of it.'
  const { searchParams } = new URL(text)
  if (!searchParams.has('code') && !searchParams.has('error')) return 'This address has no code.'
  return searchParams.get('state') === state ? undefined : 'This address belongs to another sign-in.'
}
