import type { JsonObject } from '../../../core/base/json.ts'
import type { Fold } from '../../../core/event/fold.ts'
import type { CallState } from '../../../core/event/invocation-state.ts'
import { findEntry, type ToolOwner } from '../../agent/loop/find-entry.ts'
import type { InvocationHost } from '../../context/invocation-host.ts'
import { type EditedQuestion, questionAboutEdit } from '../../dispatch/question-about-edit.ts'
import type { ToolEntry } from '../../dispatch/resolve.ts'

/** Computes the questions about edited arguments. `hostOf` is called with the invocation of the call, for toolsets. */
export function questionsOf(
  { tree, services, progress }: Omit<ToolOwner, 'host'>,
  hostOf: (invocationId: string) => InvocationHost,
): (fold: Fold, call: CallState, args: JsonObject) => Promise<EditedQuestion> {
  return (fold, call, args) => {
    const find = (): Promise<ToolEntry | undefined> =>
      findEntry({ tree, services, progress, host: hostOf(fold.invocationId) }, fold, call)
    return questionAboutEdit({ name: call.name, args }, find, services)
  }
}
