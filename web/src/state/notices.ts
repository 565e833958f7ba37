import { describeError } from '../api/api-error.ts'
import { type Signal, signal } from './signal.ts'

/** A message for the user, shown until it is closed. */
export interface Notice {
  /** Distinguishes notices. */
  readonly id: number
  /** `error` is announced at once. */
  readonly kind: 'info' | 'error'
  /** The message. */
  readonly text: string
  /** What the user can do about it. It closes the message. */
  readonly action?: NoticeAction | undefined
}

/** A button of a message. */
export interface NoticeAction {
  /** Its text. */
  readonly label: string
  /** Does it. */
  run(): void
}

const MOST = 4

/** The notices on the page, the oldest first. */
export const notices: Signal<readonly Notice[]> = signal<readonly Notice[]>([])

let last = 0

/** Shows a message. Returns its id. */
export function notify(text: string, kind: Notice['kind'] = 'info', action?: NoticeAction): number {
  notices.update((all) => [...all, { id: ++last, kind, text, action }].slice(-MOST))
  return last
}

/** Shows an error. An aborted request is none. */
export function notifyError(error: unknown): void {
  if (error instanceof DOMException && error.name === 'AbortError') return
  notify(describeError(error), 'error')
}

/** Removes a notice. */
export function dismiss(id: number): void {
  notices.update((all) => all.filter((notice) => notice.id !== id))
}
