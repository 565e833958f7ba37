// Marks what belongs together in the chat and in the timeline beside it. Attributes are set on the elements, so that pointing at
// something renders nothing.
import type { Event } from '../../../src/core/event/event.ts'
import type { LogView } from './log-view.ts'
import { pointed } from './selection.ts'

const ORIGIN = '[data-step], [data-key]'

/** Marks the steps of the row, or the rows of the step, that the user points at. With `isChosen`, the timeline shows the run of the row. */
export function markLinked(panes: HTMLElement, target: EventTarget | null, view: LogView, isChosen: boolean): void {
  const origin = target instanceof Element ? target.closest<HTMLElement>(ORIGIN) : null
  const { step, key = '' } = origin?.dataset ?? {}
  const id = step ?? idOfRow(key, view)
  const ids = origin ? linkedIds(id, view) : new Set<string>()
  if (isChosen && origin && step === undefined)
    pointed.set(key.startsWith('call ') ? { eventId: '', callId: id } : { eventId: id })
  for (const element of panes.querySelectorAll<HTMLElement>(ORIGIN)) {
    const { step: otherStep, key: otherKey = '' } = element.dataset
    const isOther = (otherStep === undefined) !== (step === undefined)
    element.toggleAttribute('data-linked', isOther && ids.has(otherStep ?? idOfRow(otherKey, view)))
  }
}

/** The id of the call or the event of a row: `call C`, `E`, `E/0`, `E transfer`. A row that streamed keeps its first id. */
function idOfRow(key: string, { streamedAs }: LogView): string {
  if (key.startsWith('call ')) return key.slice(5)
  const id = key.split(/[/ ]/)[0] ?? ''
  for (const [stored, streamed] of streamedAs) if (streamed === id) return stored
  return id
}

/** A message is linked with all that follows from it, a reply with its calls. */
function linkedIds(id: string, { entries, recent }: LogView): ReadonlySet<string> {
  const ids = new Set([id])
  const own = entries.findLast(({ event }) => event?.id === id)?.event ?? recent.find((event) => event.id === id)
  const add = (event: Event | undefined): void => {
    if (!event || (event !== own && event.invocationId !== own?.invocationId)) return
    ids.add(event.id)
    for (const { functionCall } of event.content?.parts ?? []) if (functionCall?.id) ids.add(functionCall.id)
  }
  add(own)
  if (own?.author !== 'user') return ids
  for (const { event } of entries) add(event)
  for (const event of recent) add(event)
  return ids
}
