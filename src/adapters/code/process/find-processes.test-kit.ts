// Finds processes of this machine by an argument of their command line.

const { readdirSync, readFileSync } = process.getBuiltinModule('node:fs')

/** A random number of seconds, as an argument for `sleep` by which the process can be found. */
export function uniqueArgument(): string {
  return `${1000 + Math.floor(Math.random() * 1000)}.${Math.floor(Math.random() * 1e9)}`
}

/** The ids of the running processes with this argument. */
export function processesWithArgument(argument: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => argumentsOf(name).includes(argument))
    .map(Number)
}

function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return [] // the process has ended
  }
}
