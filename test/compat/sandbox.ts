// Runs the commands of the matrix. Only installs can reach the npm registry; other commands can reach loopback only.
import { spawn, spawnSync } from 'node:child_process'

/** Switches off telemetry and update checks of all tools. */
const QUIET = {
  CI: '1',
  DO_NOT_TRACK: '1',
  DENO_NO_UPDATE_CHECK: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  NO_UPDATE_NOTIFIER: '1',
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  NO_COLOR: '1',
}

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly errors: string
}

const LOOPBACK_ONLY = ['unshare', '-rn', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']

/** Whether commands can run without network access, by user namespaces of Linux. */
export const canIsolate: boolean = spawnSync('unshare', ['-rn', 'ip', 'link', 'set', 'lo', 'up']).status === 0

export function run(command: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<Ended> {
  return start(canIsolate ? [...LOOPBACK_ONLY, ...command] : command, cwd, env)
}

export async function install(folder: string, packages: readonly string[]): Promise<void> {
  const npm = ['npm', 'i', '--no-audit', '--no-fund', '--ignore-scripts', '--force', '--loglevel=error', ...packages]
  const { code, errors } = await start(npm, folder)
  if (code !== 0) throw new Error(`npm could not install ${packages.join(' ')}: ${errors}`)
}

function start(command: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<Ended> {
  const [program = '', ...args] = command
  const { PATH = '', HOME = '' } = process.env
  const npm = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('npm_config_')))
  const child = spawn(program, args, {
    cwd,
    env: { ...npm, PATH, HOME, ...QUIET, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 300_000,
  })
  const text = { out: '', errors: '' }
  child.stdout.on('data', (data) => (text.out += data))
  child.stderr.on('data', (data) => (text.errors += data))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...text }))
  })
}
