import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import { findProgram, isLinux, isRoot, realPath } from '../process/machine.ts'
import { runProgram } from '../process/run-program.ts'
import { bubblewrapIsolation } from './bubblewrap.ts'
import type { Isolation, IsolationName, SandboxPrograms } from './isolation.ts'
import { isSystemPath } from './sandbox-view.ts'
import { systemCallFilterFor } from './system-call-filter.ts'
import { unshareIsolation } from './unshare.ts'

/** Tries an isolation. Resolves with the reason when it does not work on this machine. */
type TryIsolation = (isolation: Isolation) => Promise<string | undefined>

/**
 * Finds the first isolation that works on this machine. Throws when none works: code that cannot be isolated does not
 * run. For root, `unshare` is tried first, because it can show paths only root can read. For other users, bubblewrap is
 * tried first, because fewer systems forbid it.
 */
export async function findIsolation(only: IsolationName | undefined, tryIsolation: TryIsolation): Promise<Isolation> {
  if (!isLinux) throw noIsolationError([`this is ${process.platform}, not Linux`])
  const missing = ['sh', 'setpriv', 'prlimit', 'tar', 'find'].filter((name) => findProgram(name) === undefined)
  if (missing.length > 0)
    throw noIsolationError([`not installed: ${missing.join(', ')} (packages util-linux, tar, findutils)`])
  const reasons: string[] = []
  for (const name of only ? [only] : isRoot ? PREFERENCE.toReversed() : PREFERENCE) {
    const isolation = await buildCandidate(name, findSandboxPrograms())
    const reason = typeof isolation === 'string' ? isolation : await tryIsolation(isolation).catch(messageOf)
    if (typeof isolation !== 'string' && reason === undefined) return isolation
    reasons.push(`${name}: ${String(reason)}`)
  }
  throw noIsolationError(reasons)
}

const PREFERENCE: readonly IsolationName[] = ['bubblewrap', 'unshare']

/** Returns the isolation, or the reason why it is not available. */
async function buildCandidate(name: IsolationName, programs: SandboxPrograms): Promise<Isolation | string> {
  const program = findProgram(name === 'unshare' ? 'unshare' : 'bwrap')
  if (program === undefined) return 'not installed'
  if (name === 'unshare') return unshareIsolation(programs, program)
  const { out } = await runProgram([program, '--help'], {})
  return out.includes('--disable-userns') ? bubblewrapIsolation(programs, program) : 'older than 0.8.0'
}

function findSandboxPrograms(): SandboxPrograms {
  const perl = findProgram('perl', '')
  return {
    sh: findProgram('sh') as string, // findIsolation has checked that these three exist
    setpriv: findProgram('setpriv') as string,
    prlimit: findProgram('prlimit') as string,
    buildFolder: ['/sys', '/mnt', '/media'].find((path) => realPath(path) === path) ?? '/mnt',
    perl: perl !== undefined && isSystemPath(perl) ? perl : undefined,
    systemCallFilter: systemCallFilterFor(process.arch),
    pickUserId: isRoot ? () => FIRST_USER_ID + Math.floor(Math.random() * USER_IDS) : undefined,
  }
}

/** A range of user ids that no system assigns. */
const FIRST_USER_ID = 1_900_000_000
const USER_IDS = 200_000_000

function noIsolationError(reasons: readonly string[]): ToolwrightError {
  return new ToolwrightError(
    'INVALID_CONFIG',
    `isolatedProcess() cannot isolate code on this machine, so it does not run code. ${reasons.join('; ')}. ` +
      'Install bubblewrap 0.8 or newer, or allow user namespaces (in a container: a seccomp profile that allows unshare; ' +
      'on Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0). Or use docker(), or quickjs() for JavaScript.',
  )
}
