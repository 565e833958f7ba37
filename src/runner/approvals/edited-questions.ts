import { findEntry, type ToolOwner } from '../../agent/loop/find-entry.ts'
import type { JsonObject } from '../../base/json.ts'
import { type EditedQuestion, questionAboutEdit } from '../../dispatch/question-about-edit.ts'
import type { ToolEntry } from '../../dispatch/resolve.ts'
import type { Fold } from '../../event/fold.ts'
import type { CallState } from '../../event/invocation-state.ts'
import type { InvocationHost } from '../../tool/invocation-host.ts'

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
