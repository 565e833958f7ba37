import { readFileSync } from 'node:fs'

/** Does the process run? A zombie, which only waits for its parent, does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
