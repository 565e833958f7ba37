import { systemPorts } from '../../core/base/ports.ts'

/** Reading the version of an unchanged file takes some microseconds. */
const INTERVAL_MS = 250

/** Calls the listener when the version of a file has changed, until the returned function is called. Keeps no process alive. */
export function watchCommits(readVersion: () => unknown, listener: () => void): () => void {
  let known: unknown
  let cancel = (): void => {}
  const look = (): void => {
    cancel = systemPorts.setTimer(look, INTERVAL_MS, { background: true })
    try {
      const version = readVersion()
      if (version === known) return
      known = version
    } catch {
      return // the file is closed
    }
    listener()
  }
  look()
  return () => cancel()
}
