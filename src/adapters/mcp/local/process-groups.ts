// The process groups of local servers. They are killed when this process exits, and also when it dies by a signal: then a
// small shell kills them, which notices that its input has ended.
import { EXIT_MS } from '../limits.ts'

/** The groups of servers that run now. */
const running = new Set<number>()
let killsAtExit = false

/** Notes a group, so that it ends with this process. Call it as soon as the group exists. */
export function trackGroup(pid: number): void {
  if (!killsAtExit) process.once('exit', killAll)
  killsAtExit = true
  running.add(pid)
  watcher ??= startWatcher()
  watcher?.tell(`+ ${pid}`)
}

/** Forgets a group that has ended. Without groups there is no watcher. Resolves when it has ended. */
export async function forgetGroup(pid: number): Promise<void> {
  if (!running.delete(pid)) return
  watcher?.tell(`- ${pid}`)
  if (running.size > 0) return
  const last = watcher
  watcher = undefined
  await last?.end()
}

/** Kills all processes of a group. */
export function killGroup(pid: number | undefined): void {
  if (pid !== undefined) signalGroup(pid, 'SIGKILL')
}

/** Sends a signal to all processes of a group. On Windows, which has neither, the process and those it started are ended. */
export function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    const { spawnSync } = process.getBuiltinModule('node:child_process')
    spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true })
    return
  }
  try {
    process.kill(-pid, signal)
  } catch {
    // every process of the group has ended
  }
}

function killAll(): void {
  for (const pid of running) {
    killGroup(pid)
    watcher?.tell(`- ${pid}`) // else it would wait for the dead
  }
}

/** A process that outlives this one by a moment. */
interface Watcher {
  /** Sends it a line. */
  tell(line: string): void
  /** Ends it. */
  end(): Promise<void>
}

let watcher: Watcher | undefined

/**
 * Reads groups from its input. The input ends when this process does, however it ends. Servers that notice it themselves get
 * a second to end in their own way.
 */
const SCRIPT = `trap '' HUP INT TERM
groups=
while read -r what group; do
  if [ "$what" = + ]; then groups="$groups $group"; continue; fi
  left=
  for one in $groups; do [ "$one" = "$group" ] || left="$left $one"; done
  groups=$left
done
[ -z "$groups" ] && exit
sleep 1
for one in $groups; do kill -s KILL -- "-$one" 2>/dev/null; done`

/** Undefined where there is no shell. Then servers end with their input, or not at all. */
function startWatcher(): Watcher | undefined {
  if (process.platform === 'win32') return undefined
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'toolwright-mcp-watcher'], {
    cwd: '/', // not to keep a folder in use
    env: { PATH: '/usr/bin:/bin' }, // not the secrets of this process
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // a signal to the group of this process must not end it
  })
  const { stdin } = child
  child.on('error', () => {}) // there is no shell
  if (!stdin) return undefined // this process has too many open files
  stdin.on('error', () => {}) // it has ended
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()).once('error', () => resolve()))
  child.unref()
  ;(stdin as unknown as { unref?(): void }).unref?.()
  const made: Watcher = {
    tell: (line) => void stdin.write(`${line}\n`),
    end: async () => {
      stdin.end()
      child.ref()
      let timer: ReturnType<typeof setTimeout> | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, EXIT_MS)
      })
      await Promise.race([ended, late]).finally(() => clearTimeout(timer))
      child.unref()
    },
  }
  child.once('exit', () => {
    if (watcher === made) watcher = undefined // the next server starts another one
  })
  return made
}
