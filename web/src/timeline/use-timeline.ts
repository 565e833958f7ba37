import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Entry } from '../../../src/core/event/event.ts'
import type { LogView } from '../session/log-view.ts'
import { buildTimeline } from './build-timeline.ts'
import type { Timeline } from './timeline.ts'

const TICK_MS = 500

/** After this time without another page, what was read of the start of the log is used. */
const SETTLED_MS = 300

/** The log, without the pages of its start that come while the user scrolls: they change no later run. */
export function useLaterLog(view: LogView): LogView {
  const [used, setUsed] = useState(view)
  const isSame =
    view.entries.at(-1) === used.entries.at(-1) &&
    view.recent === used.recent &&
    view.isRunning === used.isRunning &&
    view.status === used.status
  useEffect(() => {
    const timer = setTimeout(() => setUsed(view), isSame ? SETTLED_MS : 0)
    return () => clearTimeout(timer)
  }, [view])
  return isSame ? used : view
}

/** The entries of a log, and the events of its run that have no place in the log yet. */
export function entriesOf({ entries, recent }: LogView): readonly Entry[] {
  const last = entries.at(-1)?.seq ?? 0
  return recent.length === 0 ? entries : [...entries, ...recent.map((event, at) => ({ seq: last + 1 + at, event }))]
}

/** The timeline of an invocation. It is built again while it grows. */
export function useTimeline(view: LogView | undefined, invocationId: string | undefined): Timeline | undefined {
  const [now, setNow] = useState(Date.now())
  const timeline = useMemo(() => {
    if (!view || invocationId === undefined) return undefined
    return buildTimeline(entriesOf(view), invocationId, { now, isRunning: view.isRunning })
  }, [view?.entries, view?.recent, view?.isRunning, invocationId, now])
  const isOpen = timeline?.steps.some(({ status }) => status === 'running' || status === 'waiting') === true
  useEffect(() => {
    if (!isOpen) return
    const timer = setInterval(() => setNow(Date.now()), view?.isRunning ? TICK_MS : 60 * TICK_MS)
    return () => clearInterval(timer)
  }, [isOpen, view?.isRunning])
  return timeline
}
