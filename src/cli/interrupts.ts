/** Ctrl-C, as often as somebody wants to hear of it: the last who asked is told. */
export interface Interrupts {
  /** The returned function takes it back. */
  listen(callback: () => void): () => void
  /** Ctrl+C came as a key, not as a signal. */
  raise(): void
  readonly wasHeard: boolean
}

/** Where Ctrl-C comes from: a process. */
export interface Signals {
  on(signal: 'SIGINT', callback: () => void): unknown
  off(signal: 'SIGINT', callback: () => void): unknown
}

/** A package manager passes on the signal its child has already had from the terminal: one key, two signals. */
const SAME_KEY_MS = 300

/** Ctrl-C of a process, until it is closed. When nobody listens, `leave` is called. */
export function interruptsOf(
  signals: Signals,
  options: { leave: () => void; now?: (() => number) | undefined },
): Interrupts & { close(): void } {
  const { leave, now = Date.now } = options
  const callbacks: (() => void)[] = []
  let last = Number.NEGATIVE_INFINITY
  const raise = (): void => {
    last = now()
    const callback = callbacks.at(-1) ?? leave
    callback()
  }
  const hear = (): void => {
    if (now() - last >= SAME_KEY_MS) raise()
  }
  signals.on('SIGINT', hear)
  return {
    listen(callback) {
      callbacks.push(callback)
      return () => {
        const at = callbacks.indexOf(callback)
        if (at >= 0) callbacks.splice(at, 1)
      }
    },
    raise,
    get wasHeard() {
      return last > Number.NEGATIVE_INFINITY
    },
    close: () => void signals.off('SIGINT', hear),
  }
}
