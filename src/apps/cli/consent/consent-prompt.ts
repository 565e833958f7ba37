// A credential request as a prompt: the browser answers it, or the user pastes the callback URL.

import { escapeLine } from '../../../core/base/escape.ts'
import type { Part } from '../../../core/content/content.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { TOOLSET_CALL_PREFIX } from '../../../core/event/request-names.ts'
import { deny, respond } from '../../../engine/runner/approvals/answer-parts.ts'
import {
  type AuthorizationLink,
  loopbackAddress,
  readAuthorizationLink,
} from '../../../services/auth/consent/authorization-link.ts'
import type { OtherAnswer, RequestPrompt } from '../requests/request-prompt.ts'
import { type CallbackListener, listenForCallback } from './callback-listener.ts'

/** How long a consent can be answered. */
const CONSENT_MS = 10 * 60 * 1000

/** Options of `consentPrompt`. */
export interface ConsentOptions {
  /** Requests of the invocation that need the same credential. A decline also answers them. */
  readonly same?: readonly PendingRequest[] | undefined
  /** Opens the authorization URL. Default: the link is only printed. */
  openBrowser?: ((url: string) => void) | undefined
  /** How long to wait, in milliseconds. Default: 10 minutes. */
  readonly timeoutMs?: number | undefined
}

/** Creates the prompt for a credential request; undefined without an authorization URL that a browser may open. */
export function consentPrompt(request: PendingRequest, options: ConsentOptions = {}): RequestPrompt | undefined {
  const link = readAuthorizationLink(request.authUri)
  if (!link) return undefined
  const decline = (reason?: string): Part[] =>
    [request, ...(options.same ?? [])].map((one) => deny(one, reason === undefined ? {} : { reason }))
  const accept = (authResponseUri: string): Part[] => [respond(request, { authResponseUri })]
  return {
    request,
    text: promptText(request, link),
    link: link.href,
    label: 'Callback URL, or no to decline: ',
    interrupted: decline(),
    async open() {
      const { listener, notice } = await startListener(link)
      options.openBrowser?.(link.href)
      return waitForCallback(listener, { notice, accept, decline, timeoutMs: options.timeoutMs ?? CONSENT_MS })
    },
    async read(line) {
      const typed = line.trim()
      const declined = /^(?:n|no)(?:[\s,.:;-]+(.*))?$/is.exec(typed)
      if (declined) return { parts: decline(declined[1] || undefined) }
      const problem = callbackProblem(typed, link)
      return problem === undefined ? { parts: accept(typed) } : { problem }
    },
  }
}

function promptText({ tool, functionCallId }: PendingRequest, { origin, scopes }: AuthorizationLink): string {
  const kind = functionCallId.startsWith(TOOLSET_CALL_PREFIX) ? 'The toolset ' : ''
  const lines = [
    `? ${kind}${escapeLine(tool)} needs you to sign in`,
    `    Provider: ${escapeLine(origin)}`,
    ...(scopes.length > 0 ? [`    Scopes: ${escapeLine(scopes.join(', '))}`] : []),
    '  Open this link in a browser of this machine:',
  ]
  return `${lines.join('\n')}\n`
}

/** Starts the listener if the callback goes to this machine. Else the notice tells what to paste. */
async function startListener({
  redirectUri,
  state,
}: AuthorizationLink): Promise<{ listener?: CallbackListener; notice: string }> {
  const paste = 'After you have signed in, paste the URL that the browser shows.'
  const address = loopbackAddress(redirectUri)
  if (!address) return { notice: paste }
  try {
    const listener = await listenForCallback(address, state)
    return { listener, notice: 'Waiting for the browser. You can also paste the URL that it shows at the end.' }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // the errors of `listen` have a code
    const reason = code === 'EADDRINUSE' ? 'the port is in use' : messageOf(error)
    return { notice: `Cannot listen on ${address.url.host}: ${reason}. ${paste}` }
  }
}

interface WaitOptions {
  readonly notice: string
  readonly timeoutMs: number
  accept(callback: string): Part[]
  decline(reason: string): Part[]
}

function waitForCallback(listener: CallbackListener | undefined, options: WaitOptions): OtherAnswer {
  const { notice, timeoutMs, accept, decline } = options
  const { promise: timedOut, resolve } = Promise.withResolvers<Part[]>()
  const timer = setTimeout(() => resolve(decline('no sign-in within 10 minutes')), timeoutMs)
  return {
    notice,
    parts: Promise.race([timedOut, ...(listener ? [listener.callback.then(accept)] : [])]),
    async close() {
      clearTimeout(timer)
      await listener?.close()
    },
  }
}

/** Why a pasted text is not the callback of the request; undefined if it is. */
function callbackProblem(text: string, { state, redirectUri }: AuthorizationLink): string | undefined {
  const expected = `Paste the whole URL${redirectUri === undefined ? '' : `, which starts with ${redirectUri}`}, or type no.`
  if (!URL.canParse(text)) return `This is not a URL. ${expected}`
  const { searchParams } = new URL(text)
  if (!searchParams.has('code') && !searchParams.has('error')) return `This URL has no code. ${expected}`
  return searchParams.get('state') === state ? undefined : `This URL belongs to another sign-in. ${expected}`
}
