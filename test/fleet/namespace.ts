// A network without a route to other machines: Restate asks for its newest version when it starts, whatever its settings say.
import { spawnSync } from 'node:child_process'

/** How to start a program: the command, and its arguments. */
export type CommandLine = readonly [command: string, ...args: string[]]

/** Runs a command line with loopback as its only network. */
const WITHOUT_NETWORK = [
  'unshare',
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-current-user', '--keep-caps']),
  '--net',
]

let can: boolean | undefined

/** May this user make a network namespace, and start loopback in it? */
export function canLeaveNetwork(): boolean {
  can ??= spawnSync(...withoutNetwork(['true']), { stdio: 'ignore' }).status === 0
  return can
}

/** The command line in a network of its own, for `spawn()`. */
export function withoutNetwork(line: CommandLine): [string, string[]] {
  const [command = '', ...args] = WITHOUT_NETWORK
  return [command, [...args, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...line]]
}
