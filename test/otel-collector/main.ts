// npm run collector: a real collector reads what SDK 2 and SDK 3 of OpenTelemetry export, as JSON and as protobuf. Installs both, and the
// collector, into a temporary folder from the npm registry; everything else can reach loopback only. Prints a table, and exits with 1 when a
// row fails. The collector is a program for Linux x64, so that it is in no package.json.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { canIsolate, install, run } from '../compat/sandbox.ts'

const COLLECTOR = '@streamfold/rotel-linux-x64'
const COLLECTOR_VERSION = '0.0.8-alpha'

const SDKS = [
  { api: '1.9.1', sdk: '2.12.1', hooks: '2.12.0', http: '0.223.1', proto: '0.223.1' },
  { api: '1.10.0', sdk: '3.1.1', hooks: '3.1.1', http: '0.301.0', proto: '0.301.1' },
]
const EXPORTERS = { http: 'JSON', proto: 'protobuf' } as const

const work = mkdtempSync(join(tmpdir(), 'toolwright-collector-'))
process.exitCode = await main()

async function main(): Promise<number> {
  if (process.platform !== 'linux' || process.arch !== 'x64' || !canIsolate) {
    console.error('The collector needs Linux x64 and user namespaces, so that it reaches loopback only.')
    return 1
  }
  try {
    const program = join(
      await installIn('rotel', [`${COLLECTOR}@${COLLECTOR_VERSION}`]),
      'node_modules',
      COLLECTOR,
      'bin/rotel-agent',
    )
    let isGood = true
    for (const { api, sdk, hooks, http, proto } of SDKS) {
      const packages = {
        api,
        'sdk-trace': sdk,
        'context-async-hooks': hooks,
        'exporter-trace-otlp-http': http,
        'exporter-trace-otlp-proto': proto,
      }
      const names = Object.entries(packages).map(([name, version]) => `@opentelemetry/${name}@${version}`)
      const folder = await installIn(`sdk-${sdk}`, names)
      for (const [exporter, format] of Object.entries(EXPORTERS)) {
        const problem = await check(program, { SDK_FOLDER: folder, SDK_VERSION: sdk, EXPORTER: exporter })
        console.log(`| SDK ${sdk}, API ${api}, ${format} | ${problem === undefined ? 'ok' : 'FAILED'} |`)
        if (problem !== undefined) console.error(problem)
        isGood &&= problem === undefined
      }
    }
    return isGood ? 0 : 1
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

async function installIn(name: string, packages: readonly string[]): Promise<string> {
  const folder = join(work, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  await install(folder, packages)
  return folder
}

/** Undefined if the collector has what it must have. */
async function check(program: string, env: Record<string, string>): Promise<string | undefined> {
  const [file, use] = ['check.ts', 'use.ts'].map((name) => resolve(import.meta.dirname, name))
  const sdk = pathToFileURL(use ?? '').href
  const { code, out, errors } = await run([process.execPath, file ?? '', program, sdk], process.cwd(), env)
  return code === 0 ? undefined : out + errors
}
