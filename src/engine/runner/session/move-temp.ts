import type { JsonObject } from '../../../core/base/json.ts'
import { isTempKey } from '../../../core/base/key-scope.ts'
import type { EventDraft } from '../../dispatch/host.ts'
import type { RecordedRun } from '../run/recorded-run.ts'

type TempRun = Pick<RecordedRun, 'state' | 'listener'>

/** Moves the `temp:` values of an event to the state of the run: they are not recorded. */
export function moveTemp(event: EventDraft, delta: JsonObject, { state, listener }: TempRun): void {
  const temporary = Object.keys(delta).filter(isTempKey)
  if (temporary.length === 0) return
  const kept = { ...delta }
  for (const key of temporary) {
    state.setTemp(key, delta[key])
    listener?.changedTemp(key, delta[key])
    delete kept[key]
  }
  const { stateDelta: _, ...actions } = event.actions
  event.actions = Object.keys(kept).length ? { ...actions, stateDelta: kept } : actions
}
