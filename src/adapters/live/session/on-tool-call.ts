// The hook `onToolCall`: the app answers calls itself, or lets them run.
import { kindOf } from '../../../core/base/kind-of.ts'
import type { FunctionCall, FunctionResponse } from '../../../core/content/content.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { State } from '../../../engine/context/context.ts'

/** Answers some, none or all calls of a message. The others run. */
export type OnToolCall = (message: {
  readonly calls: readonly (FunctionCall & { readonly id: string })[]
  readonly state: State
}) => MaybePromise<readonly FunctionResponse[] | undefined>

type LoggedCall = FunctionCall & { readonly id: string }
type MaybePromise<T> = T | Promise<T>

/** What the hook returned. */
export interface HookAnswers {
  /** The responses that belong to a call. */
  readonly answered: readonly FunctionResponse[]
  /** Mistakes in the hook. */
  readonly problems: readonly { readonly problem: string; readonly error: unknown }[]
}

/** Asks the hook. A hook that throws, or returns something else, may be a guard: none of its calls runs. */
export async function askHook(
  onToolCall: OnToolCall,
  calls: readonly LoggedCall[],
  state: State & { saved(): Promise<void> },
): Promise<HookAnswers> {
  const problems: { problem: string; error: unknown }[] = []
  let given: readonly FunctionResponse[] = []
  try {
    given = (await onToolCall({ calls: structuredClone(calls), state })) ?? []
    if (!Array.isArray(given)) {
      throw new TypeError(`it returned ${kindOf(given)}. Return a list of { name, response }, or undefined`)
    }
  } catch (error) {
    problems.push({ problem: 'onToolCall failed, so its calls were not run', error })
    const response = { error: `Tool execution failed: ${messageOf(error)}`, errorCode: 'EXECUTION_FAILED' }
    given = calls.map(({ id, name }) => ({ id, name, response }))
  }
  await state.saved()
  const answered = matchResponses(calls, given)
  if (answered.length < given.length)
    problems.push({ problem: 'onToolCall answered calls that the model did not make', error: undefined })
  return { answered, problems }
}

/** One response for each answered call. A response without an id belongs to the first call of its name. */
function matchResponses(calls: readonly LoggedCall[], given: readonly FunctionResponse[]): FunctionResponse[] {
  const open = [...calls]
  return given.flatMap((response) => {
    const at = open.findIndex(({ id, name }) =>
      response?.id === undefined ? name === response?.name : id === response.id,
    )
    const [call] = at < 0 ? [] : open.splice(at, 1)
    if (!call) return []
    return [{ id: call.id, name: call.name, response: toResponse(response.response) }]
  })
}

function toResponse(value: unknown): FunctionResponse['response'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as FunctionResponse['response'])
    : { result: value ?? null }
}
