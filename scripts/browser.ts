// Finds a Chromium for the browser tests, or installs one. Runs before `npm test`; it never skips the tests silently.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'

const CACHE = 'node_modules/.cache/toolwright/chromium-path'
const LAMBDA_CHROMIUM = '@sparticuz/chromium@153.0.0'

const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  'msedge',
  'microsoft-edge',
]

const PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ...['ProgramFiles', 'ProgramFiles(x86)', 'LOCALAPPDATA'].flatMap((name) => {
    const folder = process.env[name]
    return folder === undefined
      ? []
      : [
          join(folder, 'Google/Chrome/Application/chrome.exe'),
          join(folder, 'Microsoft/Edge/Application/msedge.exe'),
          join(folder, 'Chromium/Application/chrome.exe'),
        ]
  }),
]

/** The path of a Chromium: the one of the last search if it still starts, else a found or installed one. */
export async function findBrowser(): Promise<string> {
  const known = existsSync(CACHE) ? readFileSync(CACHE, 'utf8').trim() : ''
  const path = await search(known)
  mkdirSync(dirname(CACHE), { recursive: true })
  writeFileSync(CACHE, path)
  return path
}

async function search(known: string): Promise<string> {
  const configured = process.env.TOOLWRIGHT_CHROMIUM
  if (configured !== undefined) {
    if (starts(configured)) return configured
    throw new Error(`TOOLWRIGHT_CHROMIUM is "${configured}", which does not start. Set it to the path of a Chromium.`)
  }
  const found = [known, ...onPath(), ...PLACES].find((path) => path !== '' && existsSync(path) && starts(path))
  if (found !== undefined) return found
  const installed = installWithApt() ?? (await installFromNpm())
  if (installed !== undefined) return installed
  throw new Error(
    'The browser tests need Chromium, Chrome or Edge: install one, or set TOOLWRIGHT_CHROMIUM to its path.',
  )
}

function onPath(): string[] {
  const suffixes = process.platform === 'win32' ? ['.exe'] : ['']
  return (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.flatMap((name) => suffixes.map((suffix) => join(folder, name + suffix))))
}

/** Windows opens a window for --version, so that there a file that exists is enough. */
function starts(path: string): boolean {
  if (process.platform === 'win32') return existsSync(path)
  return spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 20_000 }).status === 0
}

/** On Debian and Ubuntu as root, as in a container of a build. */
function installWithApt(): string | undefined {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return undefined
  const apt = (...args: string[]): void => {
    execFileSync('apt-get', ['-o', 'DPkg::Lock::Timeout=120', ...args], {
      stdio: 'inherit',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  }
  console.log('Installing Chromium with apt-get, for the browser tests.')
  try {
    apt('update')
    apt('install', '-y', '--no-install-recommends', 'chromium', 'fonts-liberation')
  } catch {
    return undefined // no network, or a system without this package
  }
  return onPath().find((path) => existsSync(path) && starts(path))
}

/** A Chromium for Linux without a system package. It is not saved in package.json. */
async function installFromNpm(): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined
  console.log(`Installing ${LAMBDA_CHROMIUM} with npm, for the browser tests.`)
  const npm = spawnSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', LAMBDA_CHROMIUM], {
    stdio: 'inherit',
  })
  if (npm.status !== 0) return undefined
  const entry: string = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  const { default: chromium } = (await import(entry)) as { default: { executablePath(): Promise<string> } }
  const path = await chromium.executablePath()
  return starts(path) ? path : undefined
}

if (import.meta.main) {
  try {
    console.log(`Browser tests use ${await findBrowser()}`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
