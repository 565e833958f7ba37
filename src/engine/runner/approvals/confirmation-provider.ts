import type { JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { Tool } from '../../tool/tool.ts'
import { approve, deny } from './answer-parts.ts'

/** The decision of a confirmation provider. Only `confirmed: true` approves. */
export interface ConfirmationDecision {
  /** True runs the call. */
  readonly confirmed: boolean
  /** Passed to the tool as `context.toolConfirmation.payload`. */
  readonly payload?: unknown
  /** Replaces the arguments of the call. Only for an `editable` request; for another one it denies. */
  readonly args?: JsonObject | undefined
  /** Why the call was denied. The model gets it. */
  readonly reason?: string | undefined
  /** The same as `reason`, which comes first. */
  readonly hint?: string | undefined
}

/** Asks a person about a call: a dialog of the app, a push message, an operator. `signal` aborts when the answer is no longer needed. */
export type ConfirmationProvider = (
  request: PendingRequest,
  options: { readonly signal: AbortSignal },
) => ConfirmationDecision | Promise<ConfirmationDecision>

/** Who confirms gated calls. */
export interface Confirmation {
  /** Asks a person. */
  readonly confirmationProvider: ConfirmationProvider | undefined
  /** Runs gated calls without a confirmation if there is no provider. */
  readonly allowUnconfirmed: boolean
}

/** On a tool of a `ToolDispatcher` with a provider, or with `allowUnconfirmed`: who confirms its calls, wherever they are made. */
const CONFIRMATION = Symbol.for('toolwright.confirmation')

/** The members that make a tool bring its confirmation along, for `overrideTool()`. */
export function confirmedBy(confirmation: Confirmation): { readonly [symbol: symbol]: Confirmation } {
  return { [CONFIRMATION]: confirmation }
}

/** Who confirms the calls of a tool, also through policies. Undefined if the tool does not say. */
export function confirmationOf(tool: Tool | undefined): Confirmation | undefined {
  return (tool as { [CONFIRMATION]?: Confirmation } | undefined)?.[CONFIRMATION]
}

/** Who confirms gated calls, and who hears about failures. */
export interface ConfirmationOptions extends Confirmation {
  /** Reports a provider that failed. */
  report(problem: string, error: unknown): void
}

const NO_PROVIDER = 'The call needs a confirmation, and there is no confirmationProvider to ask a person.'

/** Decides about a confirmation request. A provider that throws, or returns anything but `confirmed: true`, denies. */
export async function confirmationAnswer(
  request: PendingRequest,
  signal: AbortSignal,
  { confirmationProvider, allowUnconfirmed, report }: ConfirmationOptions,
): Promise<Part | undefined> {
  if (!confirmationProvider) return allowUnconfirmed ? approve(request) : deny(request, { reason: NO_PROVIDER })
  try {
    const decision = await confirmationProvider(request, { signal })
    if (signal.aborted) return undefined
    if (decision?.confirmed === true) {
      const { payload, args } = decision
      if (args !== undefined && !request.editable) throw notEditable(request)
      return approve(request, { ...(payload !== undefined && { payload }), ...(args !== undefined && { args }) })
    }
    return deny(request, { reason: String(decision?.reason ?? decision?.hint ?? 'The call was not confirmed.') })
  } catch (error) {
    if (signal.aborted) return undefined
    report(`confirmationProvider failed for tool "${request.tool}", so the call was denied`, error)
    return deny(request, { reason: 'The confirmation failed.' })
  }
}

function notEditable({ tool }: PendingRequest): ToolwrightError {
  const problem = `The decision has args, but tool "${tool}" takes no edited arguments`
  return new ToolwrightError('INVALID_REQUEST', `${problem}. Leave args out, or set allowEditedArgs of the tool.`)
}
