import { type Signal, signal } from '../state/signal.ts'

/** An event that the user selected in one tab, to find it in another. */
export interface Selection {
  /** The event. */
  readonly eventId: string
  /** The tool call in the event, if a call is selected. */
  readonly callId?: string | undefined
}

/** The selected event of the session that is shown. The chat scrolls to it. */
export const selection: Signal<Selection | undefined> = signal<Selection | undefined>(undefined)

/** What the user points at in the chat. The timeline shows its run, and selects its step. */
export const pointed: Signal<Selection | undefined> = signal<Selection | undefined>(undefined)
