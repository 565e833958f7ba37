import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { sqlite } from '../../sqlite/sqlite.ts'
import { runCommandLine } from '../terminal.test-kit.ts'
import { checkNode, checkPort } from './check-installation.ts'
import type { Finding } from './finding.ts'

const refund = 'test/examples/fixtures/refund.ts'

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-doctor-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** The exit code, and what one check found. */
async function diagnose(
  check: string,
  args: readonly string[],
  env: { [name: string]: string } = {},
): Promise<{ code: number; found: Finding[]; out: string }> {
  const { code, out, errors } = await runCommandLine(['doctor', ...args, '--json'], { env, folder: temporaryFolder() })
  expect(errors).not.toContain('toolwright:')
  const { findings } = JSON.parse(out) as { findings: Finding[] }
  return { code, found: findings.filter((finding) => finding.check === check), out }
}

test('toolwright doctor prints one line per finding, what to do, and a summary', async () => {
  const { code, out } = await runCommandLine(['doctor', 'test/examples/fixtures/named-models.ts'])
  expect(out).toMatch(/^ok {7}node {6}Node \d+\.\d+\.\d+$/m)
  expect(out).toMatch(/^ok {7}agent {5}"test\/examples\/fixtures\/named-models\.ts" exports agent "team"$/m)
  expect(out).toMatch(
    /^problem {2}model {5}gpt-5-mini needs a key\.\n {19}Set OPENAI_API_KEY, in the environment or in \.env\.$/m,
  )
  expect(out).toMatch(/\n\nProblems: 3, warnings: \d+\n$/)
  expect(code).toBe(1)
})

test('toolwright doctor says once that a built-in tool is listed without a call', () => {
  const node = ['--conditions=toolwright:source', 'src/apps/cli/index.ts']
  const args = [...node, 'doctor', 'test/examples/fixtures/uncalled-tools.ts']
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(stdout.match(/Call it: googleSearch\(\)/g)).toHaveLength(1)
  expect(stdout).toContain('fixtures/uncalled-tools.ts:5:')
  expect(status).toBe(1)
})

test('toolwright doctor names the variable of a key, never its value', async () => {
  const keys = { OPENAI_API_KEY: 'sk-secret', ANTHROPIC_API_KEY: 'sk-other' }
  const { code, found, out } = await diagnose('model', ['test/examples/fixtures/named-models.ts'], keys)
  expect(found).toMatchObject([
    { status: 'ok', message: 'claude-sonnet-4-5, with ANTHROPIC_API_KEY' },
    { status: 'ok', message: 'gpt-5-mini, with OPENAI_API_KEY' },
    { status: 'problem', message: 'No provider has the model "mystery-1".' },
  ])
  expect(out).not.toMatch(/sk-secret|sk-other/)
  expect(code).toBe(1)
})

test('toolwright doctor without a problem exits with 0 and creates no file', async () => {
  const db = join(temporaryFolder(), 'app.db')
  const { code, found } = await diagnose('database', [refund, '--db', db])
  expect(found).toMatchObject([{ status: 'ok', message: expect.stringContaining('does not exist yet') }])
  expect(existsSync(db)).toBe(false)
  expect(code).toBe(0)
})

test('toolwright doctor reports an agent file that cannot be loaded', async () => {
  const { code, found } = await diagnose('agent', ['gone.ts'])
  expect(found).toMatchObject([{ status: 'problem', message: expect.stringContaining('"gone.ts" does not exist') }])
  expect(code).toBe(1)
})

test('toolwright doctor warns about a port in use', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const { code, found } = await diagnose('port', ['--port', String(port)])
  expect(found).toMatchObject([{ status: 'warning', message: expect.stringContaining(`Port ${port} cannot be used`) }])
  expect(found[0]?.fix).toBe('Stop the program that uses it, or pass another --port to toolwright web and serve.')
  const byDefault = await checkPort(port, { isDefault: true })
  expect(byDefault.fix).toBe('toolwright web takes the next free port; pass --port to toolwright serve.')
  expect(code).toBe(0)
})

test('toolwright doctor warns about Node 22', () => {
  expect(checkNode('22.18.0')).toMatchObject({ status: 'warning', message: expect.stringContaining('await using') })
  expect(checkNode('24.0.0')).toMatchObject({ status: 'ok' })
})

describe('toolwright doctor --db', () => {
  /** A database with a credential. */
  async function database(): Promise<string> {
    const db = join(temporaryFolder(), 'app.db')
    const services = sqlite(db)
    const credential = { authType: 'apiKey', apiKey: 'secret' }
    await services.credentialService.save({ appName: 'app', userId: 'ada', key: 'mail', credential })
    services.close()
    return db
  }
  const change = (db: string, sql: string): void => {
    const connection = new DatabaseSync(db)
    connection.exec(sql)
    connection.close()
  }

  test('accepts a database and leaves it as it is', async () => {
    const db = await database()
    const before = statSync(db).mtimeMs
    const { code, found } = await diagnose('database', ['--db', db])
    expect(found).toMatchObject([{ status: 'ok', message: expect.stringContaining('opens, schema version') }])
    expect(statSync(db).mtimeMs).toBe(before)
    expect(code).toBe(0)
  })

  test('warns that the key file is next to the database, and accepts keys of the environment', async () => {
    const db = await database()
    expect((await diagnose('keys', ['--db', db])).found).toMatchObject([{ status: 'warning' }])
    vi.stubEnv('TOOLWRIGHT_ENCRYPTION_KEYS', Buffer.alloc(32, 1).toString('base64'))
    onTestFinished(() => void vi.unstubAllEnvs())
    expect((await diagnose('keys', ['--db', db])).found).toMatchObject([{ status: 'ok' }])
  })

  test.each([
    ['a lost key file', 'keys', 'is missing, but the database holds credentials', (db: string) => rmSync(`${db}.key`)],
    ['an empty key file', 'keys', 'is empty', (db: string) => writeFileSync(`${db}.key`, '')],
    [
      'a file that is no database',
      'database',
      'file is not a database',
      (db: string) => writeFileSync(db, 'x'.repeat(9_999)),
    ],
    [
      'a file of a newer version',
      'database',
      'written by a newer toolwright (schema version 99',
      (db: string) => change(db, "UPDATE toolwright_meta SET value = 99 WHERE name = 'schema'"),
    ],
  ])('reports %s as a problem', async (_, check, message, damage) => {
    const db = await database()
    damage(db)
    const { code, found } = await diagnose(check, ['--db', db])
    expect(found).toMatchObject([{ status: 'problem', message: expect.stringContaining(message) }])
    expect(code).toBe(1)
  })

  test.skipIf(process.platform === 'win32')('reports files that other users may access', async () => {
    const db = await database()
    chmodSync(db, 0o644)
    chmodSync(`${db}.key`, 0o644)
    expect((await diagnose('database', ['--db', db])).found.at(-1)).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('Other users may access'),
    })
    expect((await diagnose('keys', ['--db', db])).found).toMatchObject([
      { status: 'problem', message: expect.stringContaining('other users may access it') },
    ])
  })

  test('warns about an older schema', async () => {
    const db = await database()
    change(db, "UPDATE toolwright_meta SET value = 1 WHERE name = 'schema'")
    const { code, found } = await diagnose('database', ['--db', db])
    expect(found).toMatchObject([
      { status: 'warning', message: expect.stringContaining('has schema version 1. It becomes') },
    ])
    expect(code).toBe(0)
  })
})

describe('toolwright doctor with MCP servers', () => {
  const desk = 'examples/mcp/desk.ts'

  test('reports a server that cannot be started', async () => {
    const { code, found } = await diagnose('mcp', ['test/examples/fixtures/lost-server.ts'])
    expect(found).toMatchObject([{ status: 'problem', message: expect.stringContaining('spawn no-such-program') }])
    expect(code).toBe(1)
  })

  test('gives advice about a server once: its own, or that of the error', async () => {
    const advised = await diagnose('mcp', ['test/examples/fixtures/lost-server.ts'])
    expect(advised.found[0]?.message).toContain('Check that connection.command is one program in PATH.')
    expect(advised.found[0]?.fix).toBeUndefined()
    const silent = await diagnose('mcp', ['test/examples/fixtures/silent-server.ts'])
    expect(silent.found).toMatchObject([{ fix: 'Start the server, or correct its `connection`.' }])
  })

  test('accepts a server, and warns about tools that changed since they were trusted', async () => {
    const db = join(temporaryFolder(), 'app.db')
    expect((await runCommandLine(['mcp', 'trust', desk, '--db', db])).code).toBe(0)
    const connection = new DatabaseSync(db)
    const { hash } = connection.prepare('SELECT hash FROM toolwright_pins').get() as { hash: string }
    const [first = ''] = hash.match(/[0-9a-f]{64}/) ?? []
    connection.prepare('UPDATE toolwright_pins SET hash = ?').run(hash.replace(first, '0'.repeat(64)))
    connection.close()
    const { code, found } = await diagnose('mcp', [desk, '--db', db])
    expect(found).toMatchObject([
      {
        status: 'warning',
        fix: expect.stringMatching(/npx toolwright mcp trust examples\/mcp\/desk\.ts --db \S+ \w+$/),
      },
      { status: 'ok', message: 'Server "notes" gives the agent 2 tools' },
    ])
    expect(code).toBe(0)
  })
})

test('toolwright doctor says in one line why an MCP server ended, and what to do', async () => {
  const { code, found } = await diagnose('mcp', ['test/examples/fixtures/crashing-server.ts'])
  expect(found).toHaveLength(1)
  expect(found[0]?.message).toMatch(
    /^Server "crash": .* It exited with code 1\. TypeError: The notes are missing\. Run connection\.command with .*prints$/,
  )
  expect(code).toBe(1)
})

describe('toolwright doctor with a file that exports a runner', () => {
  test('checks the SQLite file of the runner', async () => {
    const db = join(temporaryFolder(), 'own.db')
    vi.stubEnv('RUNNER_DB', db)
    onTestFinished(() => void vi.unstubAllEnvs())
    const file = 'test/examples/fixtures/sqlite-runner.ts'
    const { found } = await diagnose('database', [file])
    expect(found).toMatchObject([{ status: 'ok', message: expect.stringContaining(`"${db}" opens, schema version`) }])
    chmodSync(db, 0o644)
    expect((await diagnose('database', [file])).found.map(({ status }) => status)).toEqual(['ok', 'warning'])
  })

  test('says that the runner keeps sessions in memory', async () => {
    const { found } = await diagnose('database', ['test/examples/fixtures/runner.ts'])
    expect(found).toMatchObject([{ status: 'ok', message: expect.stringContaining('keeps sessions in memory') }])
  })

  test('asks another store whether it answers, and says what to do if it does not', async () => {
    const file = 'test/examples/fixtures/other-store.ts'
    const answers = await diagnose('database', [file])
    expect(answers.found).toMatchObject([{ status: 'ok', message: 'The session store of the runner answers' }])
    vi.stubEnv('STORE_FAILS', '1')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { code, found } = await diagnose('database', [file])
    expect([code, found]).toMatchObject([1, [{ status: 'problem', fix: expect.stringContaining('sessionService') }]])
    expect(found[0]?.message).toBe('The session store of the runner fails: connection refused')
  })
})

test('toolwright doctor reads OpenAPI documents and counts the tools that pass the filters', async () => {
  const { code, found } = await diagnose('tools', ['test/examples/fixtures/toolsets.ts'])
  expect(found).toMatchObject([
    { status: 'ok', message: 'Toolset "pets" gives the agent 1 tool' },
    {
      status: 'warning',
      message: expect.stringContaining(
        'toolFilter names "add_pets", but no usable tool has this name. Did you mean "add_pet"?',
      ),
    },
    { status: 'problem', message: expect.stringContaining('Toolset "lost": The OpenAPI document cannot be read from') },
    { status: 'warning', message: 'Toolset "notes" gives the agent no tools.' },
  ])
  expect(code).toBe(1)
})

test('toolwright doctor names a package that agent files cannot import once', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'agent.mjs')
  writeFileSync(file, "import 'toolwright'\n")
  const args = ['--conditions=toolwright:source', resolve('src/apps/cli/index.ts'), 'doctor', file]
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  expect(stdout).toContain("Cannot find package 'toolwright'")
  expect(stdout.match(/npm i(nstall)? toolwright/g)).toHaveLength(1)
})
