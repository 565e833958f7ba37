/** Delivers each Ctrl+C to the listener that was added last. */
export interface Interrupts {
  /** Adds a listener; the returned function removes it. */
  listen(callback: () => void): () => void
  /** Reports a Ctrl+C that arrived as a key, not as a signal. */
  raise(): void
  /** There was at least one Ctrl+C. */
  readonly wasRaised: boolean
}

/** A signal that asks the process to stop: Ctrl+C, or the request of another program. */
type StopSignal = 'SIGINT' | 'SIGTERM'

/** Emits signals; `process` is one. */
export interface SignalSource {
  /** Adds a listener. */
  on(signal: StopSignal, callback: () => void): unknown
  /** Removes a listener. */
  off(signal: StopSignal, callback: () => void): unknown
}

/** A package manager forwards the SIGINT that its child already got from the terminal: one key press, two signals. */
const DUPLICATE_SIGNAL_MS = 300

/** Options of `createInterrupts`. */
interface InterruptOptions {
  /** Called for a signal without a listener. */
  onUnhandled(): void
  /** The signals that interrupt. Default: SIGINT. */
  readonly names?: readonly StopSignal[] | undefined
  /** Current time in milliseconds. Default: `Date.now`. */
  readonly now?: (() => number) | undefined
}

/** Listens to signals until closed. Without a listener `onUnhandled` is called. */
export function createInterrupts(signals: SignalSource, options: InterruptOptions): Interrupts & { close(): void } {
  const { onUnhandled, names = ['SIGINT'], now = Date.now } = options
  const callbacks: (() => void)[] = []
  let last = Number.NEGATIVE_INFINITY
  const raise = (): void => {
    last = now()
    const callback = callbacks.at(-1) ?? onUnhandled
    callback()
  }
  const onSignal = (): void => {
    if (now() - last >= DUPLICATE_SIGNAL_MS) raise()
  }
  for (const name of names) signals.on(name, onSignal)
  return {
    listen(callback) {
      callbacks.push(callback)
      return () => {
        const at = callbacks.indexOf(callback)
        if (at >= 0) callbacks.splice(at, 1)
      }
    },
    raise,
    get wasRaised() {
      return last > Number.NEGATIVE_INFINITY
    },
    close: () => {
      for (const name of names) signals.off(name, onSignal)
    },
  }
}
