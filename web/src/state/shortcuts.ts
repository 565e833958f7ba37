import { useEffect, useRef } from 'preact/hooks'
import { type Signal, signal } from './signal.ts'

/** A keyboard shortcut. */
export interface Shortcut {
  /** One key, or two keys typed after each other: `?`, `g i`. */
  readonly keys: string
  /** What it does, for the list of shortcuts. */
  readonly label: string
  /** Does it. */
  run(): void
}

/** How long the second key of a pair may take. */
const PAIR_MS = 1500

/** The shortcuts that work now, the latest last. */
export const shortcuts: Signal<readonly Shortcut[]> = signal<readonly Shortcut[]>([])

/** Adds shortcuts while the component is shown. `labels` and keys must not change. */
export function useShortcuts(own: readonly Shortcut[]): void {
  const latest = useRef(own)
  latest.current = own
  useEffect(() => {
    const added = own.map(({ keys, label }) => ({ keys, label, run: () => runOf(latest.current, keys) }))
    shortcuts.update((all) => [...all, ...added])
    return () => shortcuts.update((all) => all.filter((shortcut) => !added.includes(shortcut)))
  }, [])
}

function runOf(own: readonly Shortcut[], keys: string): void {
  own.find((shortcut) => shortcut.keys === keys)?.run()
}

let first = { key: '', at: 0 }

/** Runs the shortcut of a key press. Keys typed into a field, or with a modifier, are left alone. */
export function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
  const pair = event.timeStamp - first.at < PAIR_MS ? `${first.key} ${event.key}` : ''
  const found = find(pair) ?? find(event.key)
  first = found ? { key: '', at: 0 } : { key: event.key, at: event.timeStamp }
  if (!found) return
  event.preventDefault()
  found.run()
}

function find(keys: string): Shortcut | undefined {
  return shortcuts.value.findLast((shortcut) => shortcut.keys === keys)
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.closest('dialog')) return true
  return target.matches('input:not([type=checkbox], [type=radio]), textarea, select') || target.isContentEditable
}
