import type { Entry } from '../../../src/core/event/event.ts'

/** The kinds of entries that the log can be narrowed to. */
export type EntryKind = 'all' | 'events' | 'records' | 'calls' | 'errors' | 'state'

/** What the user looks for. */
export interface LogFilter {
  /** A part of the JSON of an entry, in any case. */
  readonly text: string
  /** The kind of entry. */
  readonly kind: EntryKind
}

/** Does an entry match? */
export function matchesFilter(entry: Entry, { text, kind }: LogFilter): boolean {
  if (!isKind(entry, kind)) return false
  return text === '' || jsonOf(entry).includes(text.toLowerCase())
}

function isKind({ event, record }: Entry, kind: EntryKind): boolean {
  switch (kind) {
    case 'all':
      return true
    case 'events':
      return event !== undefined
    case 'records':
      return record !== undefined
    case 'calls':
      return event?.content?.parts.some((part) => part.functionCall ?? part.functionResponse) === true
    case 'errors':
      return event?.errorCode !== undefined || event?.content?.parts.some(isFailedResponse) === true
    case 'state':
      return Object.keys(event?.actions.stateDelta ?? {}).length > 0
  }
}

function isFailedResponse({
  functionResponse,
}: {
  readonly functionResponse?: { readonly response: object }
}): boolean {
  const response = functionResponse?.response
  return response !== undefined && ('error' in response || 'errorCode' in response)
}

const texts: WeakMap<Entry, string> = new WeakMap()

/** The JSON of an entry in lower case. It is kept, because each typed letter searches again. */
function jsonOf(entry: Entry): string {
  let text = texts.get(entry)
  if (text === undefined) {
    text = JSON.stringify(entry.event ?? entry.record).toLowerCase()
    texts.set(entry, text)
  }
  return text
}

const SLICE_MS = 12

/** Filters entries in slices, so that the page stays responsive. Calls `onFound` after each slice. */
export async function filterEntries(
  entries: readonly Entry[],
  filter: LogFilter,
  options: { readonly signal: AbortSignal; onFound(found: readonly Entry[]): void },
): Promise<void> {
  const found: Entry[] = []
  let until = performance.now() + SLICE_MS
  for (const entry of entries) {
    if (matchesFilter(entry, filter)) found.push(entry)
    if (performance.now() < until) continue
    await new Promise((resolve) => setTimeout(resolve))
    if (options.signal.aborted) return
    options.onFound([...found])
    until = performance.now() + SLICE_MS
  }
  options.onFound(found)
}
