import { useEffect, useRef } from 'preact/hooks'
import { notify } from '../state/notices.ts'
import { useSignal } from '../state/signal.ts'
import { findTarget } from './find-target.ts'
import { pointed, selection } from './selection.ts'
import type { SessionLog } from './session-log.ts'

/** Selects the call, event or request that the address names, and reads earlier pages of the log until it is found. */
export function useTarget(log: SessionLog | undefined, id: string | undefined): void {
  const view = useSignal(log?.view ?? NO_VIEW)
  const done = useRef<string | undefined>(undefined)
  useEffect(() => {
    if (id === undefined || done.current === id || view?.status !== 'ready') return
    const found = findTarget(view.entries, id)
    if (!found && view.hasEarlier) return void log?.loadEarlier()
    done.current = id
    if (!found) return void notify(`This session has no call, event or request “${id}”.`, 'error')
    selection.set(found)
    pointed.set(found)
  }, [id, view?.status, view?.entries])
}

const NO_VIEW = { value: undefined, set: () => {}, update: () => {}, watch: () => () => {} }
