// Runs the client scenarios of the MCP conformance suites against an agent with McpToolset, in both eras of the protocol.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { isRecord } from '../../src/core/base/json.ts'
import { notApplicableToClient } from './not-applicable-client.ts'

const CLIENT = `${process.execPath} --conditions=toolwright:source test/conformance/client.ts`

const next = 'node_modules/mcp-conformance-next/dist/index.js'
const old = 'node_modules/@modelcontextprotocol/conformance/dist/index.js'

/**
 * `npm test` runs each scenario with one suite, the newest that has it, and leaves out variants of the sign-in. `npm run
 * conformance` runs all with all suites.
 */
const runsAll = process.env.npm_lifecycle_event === 'conformance'
const VARIANTS =
  /^auth\/(metadata-(var\d|issuer-mismatch)|scope-(from|omitted|retry)|token-endpoint-auth-(post|none)|offline|iss-(supported|not|unexpected|normalized)|client-credentials-basic)/

const suites = [
  { title: '2026-07-28', program: next, version: '2026-07-28', least: runsAll ? 34 : 16 },
  ...(runsAll ? [{ title: '2025-11-25', program: next, version: '2025-11-25', least: 20 }] : []),
  { title: 'released suite', program: old, version: undefined, least: runsAll ? 25 : 4 },
]

const folder = mkdtempSync(join(tmpdir(), 'toolwright-conformance-client-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe.each(suites)('MCP client conformance, $title:', ({ title, program, version, least }) => {
  const newest = program === next || runsAll ? [] : scenariosOf(next, '2026-07-28')
  const scenarios = scenariosOf(program, version).filter((name) => !newest.includes(name))
  const applicable = scenarios.filter(
    (name) => !notApplicableToClient.some(([pattern]) => pattern.test(name)) && (runsAll || !VARIANTS.test(name)),
  )

  test.concurrent.each(applicable)('%s', { timeout: 120_000 }, async (scenario) => {
    const checks = await run(program, scenario, { version, folder: join(folder, title, scenario) })
    const failed = checks.filter(
      (check) => check.status === 'FAILURE' || (check.status === 'WARNING' && !isLate(check)),
    )
    expect(failed).toEqual([])
    expect(checks.filter(({ status }) => status === 'SUCCESS').length, 'checks that passed').toBeGreaterThan(0)
  })

  test('no scenario is missing', () => {
    expect(applicable.length).toBeGreaterThanOrEqual(least)
  })
})

test('every scenario that does not apply exists', () => {
  const names = [...scenariosOf(next, undefined), ...scenariosOf(old, undefined)]
  expect(notApplicableToClient.filter(([pattern]) => !names.some((name) => pattern.test(name)))).toEqual([])
})

/** The suite accepts a client that reconnects late, and warns of it: on a busy machine every timer is late. */
function isLate(check: object): boolean {
  return 'details' in check && isRecord(check.details) && check.details.slightlyLate === true
}

/** The client scenarios of a suite, of one version of the protocol or all. Extensions belong to every version. */
function scenariosOf(program: string, version: string | undefined): string[] {
  const lines = execFileSync(process.execPath, [program, 'list', '--client'], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, name = '', versions = ''] = /^ {2}- (\S+) \[(.*)\]$/.exec(line) ?? []
    const isWanted = version === undefined || versions.includes(version) || versions === 'extension'
    return name !== '' && isWanted ? [name] : []
  })
}

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

/** Runs one scenario, which starts the client as a process. Returns its checks. */
async function run(
  program: string,
  scenario: string,
  { version, folder }: { version: string | undefined; folder: string },
): Promise<Check[]> {
  const isExtension = version !== undefined && /client-credentials/.test(scenario)
  const args = ['--command', CLIENT, '--scenario', scenario, '-o', folder, '--timeout', '60000']
  if (version !== undefined && !isExtension) args.push('--spec-version', version)
  const env = { ...process.env, NODE_COMPILE_CACHE: 'node_modules/.cache/conformance' }
  const child = spawn(process.execPath, [program, 'client', ...args], { stdio: 'ignore', env })
  await new Promise<void>((resolve, reject) => child.once('exit', () => resolve()).once('error', reject))
  const [file] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('checks.json'),
  )
  return JSON.parse(readFileSync(join(folder, file ?? 'checks.json'), 'utf8'))
}
