// Runs the MCP conformance suites against a server made with serveMcp(), in both eras of the protocol.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import expectedFailures from './expected-failures.json' with { type: 'json' }
import { notApplicable, notApplicableChecks, notApplicableOldChecks } from './not-applicable.ts'
import { conformanceServer } from './server.ts'

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

const next = 'node_modules/mcp-conformance-next/dist/index.js'
const old = 'node_modules/@modelcontextprotocol/conformance/dist/index.js'

const suites = [
  { title: '2026-07-28', args: [next, '--spec-version', '2026-07-28'], excused: notApplicableChecks, least: 20 },
  { title: '2025-11-25', args: [next, '--spec-version', '2025-11-25'], excused: notApplicableChecks, least: 17 },
  { title: '2025-11-25, released suite', args: [old], excused: notApplicableOldChecks, least: 15 },
]

test('no conformance failure is expected', () => {
  expect(expectedFailures).toEqual([])
})

describe.each(suites)('MCP conformance $title:', ({ args: [program = '', ...args], excused, least }) => {
  const server = conformanceServer()
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-conformance-'))
  let scenarios: Map<string, readonly Check[]>

  beforeAll(async () => {
    const { url } = await server.listen({ port: 0 })
    await run([program, 'server', '--url', url, '--suite', 'all', '-o', folder, ...args])
    scenarios = readScenarios(folder)
  }, 60_000)

  afterAll(async () => {
    await server.close()
    rmSync(folder, { recursive: true })
  })

  test('every scenario about tools passes', () => {
    const failures = [...scenarios].flatMap(([scenario, checks]) =>
      isApplicable(scenario)
        ? checks.flatMap(({ id, status, errorMessage = '' }) =>
            ['SUCCESS', 'INFO'].includes(status) || excused.has(`${scenario}/${id}`)
              ? []
              : `${scenario}/${id}: ${status} ${errorMessage}`,
          )
        : [],
    )
    expect(failures).toEqual([])
  })

  test('every scenario about tools has checked something', () => {
    const applicable = [...scenarios].filter(([scenario]) => isApplicable(scenario))
    const checked = applicable.filter(([, checks]) => checks.some(({ status }) => status === 'SUCCESS'))
    const excusedOnly = applicable.filter(([name, checks]) => checks.some(({ id }) => excused.has(`${name}/${id}`)))
    expect(applicable.filter((one) => !checked.includes(one) && !excusedOnly.includes(one))).toEqual([])
    expect(checked.length).toBeGreaterThanOrEqual(least)
  })
})

function isApplicable(scenario: string): boolean {
  return !notApplicable.some(([pattern]) => pattern.test(scenario))
}

/** Runs a program with Node. The suites exit with an error because of the scenarios that do not apply. */
function run(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, args, { stdio: 'ignore' })
  return new Promise((resolve, reject) => child.once('exit', () => resolve()).once('error', reject))
}

/** The checks of all scenarios. A folder is named `server-<scenario>-<time>`. */
function readScenarios(folder: string): Map<string, readonly Check[]> {
  return new Map(
    readdirSync(folder).map((name) => [
      name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, ''),
      JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')),
    ]),
  )
}
