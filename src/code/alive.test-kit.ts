// Looks for processes by a word in their command line.

const { execFileSync } = process.getBuiltinModule('node:child_process')
const { readdirSync, readFileSync } = process.getBuiltinModule('node:fs')

/** A number to sleep for that nobody else sleeps for: it is the word to look for. */
export function marker(): string {
  return `${1000 + Math.floor(Math.random() * 1000)}.${Math.floor(Math.random() * 1e9)}`
}

/** The processes of this machine that have the word among their arguments. */
export function alive(word: string): number[] {
  if (process.platform !== 'linux') return processesInPs(word)
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => argumentsOf(name).includes(word))
    .map(Number)
}

/** The same where there is no /proc, such as on macOS. */
function processesInPs(word: string): number[] {
  const lines = execFileSync('ps', ['-Ao', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  return lines.filter((line) => line.split(' ').includes(word)).map((line) => Number.parseInt(line, 10))
}

function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return [] // it is gone
  }
}
