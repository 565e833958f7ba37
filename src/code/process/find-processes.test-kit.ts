// Looks for processes by a word in their command line.

const { readdirSync, readFileSync } = process.getBuiltinModule('node:fs')

/** A number to sleep for that nobody else sleeps for: it is the word to look for. */
export function marker(): string {
  return `${1000 + Math.floor(Math.random() * 1000)}.${Math.floor(Math.random() * 1e9)}`
}

/** The processes of this machine that have the word among their arguments. */
export function alive(word: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => argumentsOf(name).includes(word))
    .map(Number)
}

function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return [] // it is gone
  }
}
