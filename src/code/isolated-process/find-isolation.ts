import { messageOf, ToolwrightError } from '../../error/error.ts'
import { ask } from '../process/child-process.ts'
import { findProgram, isLinux, isRoot, realPath } from '../process/machine.ts'
import { bubblewrapIsolation } from './bubblewrap.ts'
import type { Isolation, IsolationName, SandboxTools } from './isolation.ts'
import { isSystem } from './sandbox-view.ts'
import { callFilter } from './system-call-filter.ts'
import { unshareIsolation } from './unshare.ts'

/** Tries one and says why it does not work here. */
export type Try = (isolation: Isolation) => Promise<string | undefined>

/**
 * The first way of isolating that works on this machine. Never none: code that cannot be isolated is not run.
 * For root that is `unshare`, which shows paths only root can read; for others bubblewrap, which fewer systems forbid.
 */
export async function findIsolation(only: IsolationName | undefined, tries: Try): Promise<Isolation> {
  if (!isLinux) throw noIsolation([`this is ${process.platform}, not Linux`])
  const missing = ['sh', 'setpriv', 'prlimit', 'tar', 'find'].filter((name) => findProgram(name) === undefined)
  if (missing.length > 0)
    throw noIsolation([`not installed: ${missing.join(', ')} (packages util-linux, tar, findutils)`])
  const reasons: string[] = []
  for (const name of only ? [only] : isRoot ? order.toReversed() : order) {
    const isolation = await candidate(name, sandboxTools())
    const reason = typeof isolation === 'string' ? isolation : await tries(isolation).catch(messageOf)
    if (typeof isolation !== 'string' && reason === undefined) return isolation
    reasons.push(`${name}: ${String(reason)}`)
  }
  throw noIsolation(reasons)
}

const order: readonly IsolationName[] = ['bubblewrap', 'unshare']

async function candidate(name: IsolationName, tools: SandboxTools): Promise<Isolation | string> {
  const program = findProgram(name === 'unshare' ? 'unshare' : 'bwrap')
  if (program === undefined) return 'not installed'
  if (name === 'unshare') return unshareIsolation(tools, program)
  const { out } = await ask([program, '--help'], {})
  return out.includes('--disable-userns') ? bubblewrapIsolation(tools, program) : 'older than 0.8.0'
}

function sandboxTools(): SandboxTools {
  const perl = findProgram('perl', '')
  return {
    sh: findProgram('sh') as string, // looked for before
    setpriv: findProgram('setpriv') as string,
    prlimit: findProgram('prlimit') as string,
    buildIn: ['/sys', '/mnt', '/media'].find((path) => realPath(path) === path) ?? '/mnt',
    perl: perl !== undefined && isSystem(perl) ? perl : undefined,
    filter: callFilter(process.arch),
    newUser: isRoot ? () => FIRST_USER + Math.floor(Math.random() * USERS) : undefined,
  }
}

/** Numbers no system gives to anybody. */
const FIRST_USER = 1_900_000_000
const USERS = 200_000_000

function noIsolation(reasons: readonly string[]): ToolwrightError {
  return new ToolwrightError(
    'INVALID_CONFIG',
    `Code cannot be isolated on this machine, so it is not run. ${reasons.join('; ')}. ` +
      'Install bubblewrap 0.8 or newer, or allow user namespaces (in a container: a seccomp profile that lets unshare through; ' +
      'on Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0). Or use docker(), or quickjs() for JavaScript.',
  )
}
