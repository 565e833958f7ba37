// What a run may do to a session as it stands: begin, answer, go on, or not.
import { describeNext, type Next } from '../agent/next.ts'
import type { SessionView } from '../agent/session-view.ts'
import { isRecord, type JsonObject } from '../base/json.ts'
import type { Content, FunctionResponse, Part } from '../content/content.ts'
import { ToolwrightError } from '../error/error.ts'
import type { Fold } from '../event/fold.ts'

export interface Accepted {
  readonly invocationId: string
  readonly message: Content | undefined
  /** Invocations that the message puts an end to. */
  readonly cancel: readonly string[]
}

interface Open {
  readonly fold: Fold
  readonly step: Next
}

export function accept(
  view: SessionView,
  begin: { readonly invocationId: string; readonly message?: Content | undefined },
  whilePaused: 'reject' | 'cancel' | 'continue' | undefined,
): Accepted {
  const open = view.open()
  const { message, invocationId } = begin
  if (!message) return goOn(open, invocationId)
  if (message.parts.some((part) => part.functionResponse)) return answer(open, message)
  return { invocationId, message, cancel: makeRoom(open, whilePaused) }
}

/** `resume`: the invocation that was named, or the only one. */
function goOn(open: readonly Open[], invocationId: string): Accepted {
  const found = invocationId ? open.find(({ fold }) => fold.invocationId === invocationId) : open.at(-1)
  if (found) return { invocationId: found.fold.invocationId, message: undefined, cancel: [] }
  const which = invocationId ? `Invocation "${invocationId}"` : 'The session'
  throw new ToolwrightError('NOT_FOUND', `${which} has nothing unfinished to go on with.`)
}

/** Results of long-running calls: each must be one that is waited for, all of one invocation. */
function answer(open: readonly Open[], message: Content): Accepted {
  let owner: Fold | undefined
  const parts = message.parts.map((part): Part => {
    if (!part.functionResponse) {
      throw new ToolwrightError('INVALID_REQUEST', 'A message holds answers or something new, not both.')
    }
    const { id = '' } = part.functionResponse
    const fold = open.find(({ fold }) => fold.calls.get(id)?.pending)?.fold
    const call = fold?.calls.get(id)
    if (!fold || !call) throw new ToolwrightError('NOT_FOUND', `Nothing is pending under the id "${id}".`)
    owner ??= fold
    if (owner !== fold) {
      throw new ToolwrightError('INVALID_REQUEST', 'The answers belong to different invocations: send them one by one.')
    }
    return { functionResponse: cleaned(part.functionResponse, id, call.name) }
  })
  return { invocationId: (owner as Fold).invocationId, message: { role: 'user', parts }, cancel: [] }
}

function cleaned({ response, willContinue }: FunctionResponse, id: string, name: string): FunctionResponse {
  const value: unknown = response
  const result: JsonObject = isRecord(value) ? value : { result: value ?? null }
  return willContinue === true ? { id, name, response: result, willContinue } : { id, name, response: result }
}

/** New text while something is unfinished: refused, put aside, or the end of it. */
function makeRoom(open: readonly Open[], whilePaused: 'reject' | 'cancel' | 'continue' | undefined): string[] {
  const ended: string[] = []
  for (const { fold, step } of open) {
    const choice = whilePaused ?? (step.type === 'wait' ? 'continue' : 'reject')
    if (choice === 'cancel') ended.push(fold.invocationId)
    else if (choice === 'reject' || step.type !== 'wait') {
      throw new ToolwrightError(
        'PAUSED',
        `Invocation ${fold.invocationId} ${describeNext(step)}. Answer it, go on with runner.resume(), or end it with runner.cancel().`,
      )
    }
  }
  return ended
}
