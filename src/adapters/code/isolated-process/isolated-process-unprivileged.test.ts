// An unprivileged user can isolate code as well as root. When root runs the tests, this file starts a process of the
// user nobody. Otherwise the other test files already run as an unprivileged user.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { findWorkingIsolations, hasBash, hasPython } from '../executor.test-kit.ts'
import { isRoot } from '../process/machine.ts'

const NOBODY = 65534
const isolations = await findWorkingIsolations()
const languages = ['javascript', ...(hasBash ? ['bash'] : []), ...(hasPython ? ['python'] : [])]
const folder = mkdtempSync(join(tmpdir(), 'toolwright-unprivileged-'))
afterAll(() => rmSync(folder, { recursive: true }))
chmodSync(folder, 0o755)
const file = join(folder, 'canary')
writeFileSync(file, 'the secret of the machine')
const target = {
  file,
  folder,
  project: process.cwd(),
  port: 1,
  udpPort: 1,
  socket: file,
  abstractSocket: 'x',
  pid: process.pid,
}

/** Starts up to a hundred sleeping children and prints how many the kernel allowed. */
const START_CHILDREN = `const { spawn } = await import('node:child_process')
const started = (child) => new Promise((resolve) => child.on('spawn', () => resolve(1)).on('error', () => resolve(0)))
let count = 0
for (let i = 0; i < 100; i++) count += await started(spawn('sleep', ['20'])).catch(() => 0)
console.log(count)
process.exit()`

const program = `
import { isolatedProcess } from ${source('./isolated-process.ts')}
import { escapeAttempts } from ${source('./escape-attempts.test-kit.ts')}
const { isolation, languages, target, START_CHILDREN } = JSON.parse(process.argv.at(-1))
const executor = isolatedProcess({ languages, isolation, processes: 32 })
const run = (language, code, more) =>
  executor.execute({ code, language, sessionKey: '', signal: new AbortController().signal, ...more })
const honest = await run(
  'javascript',
  "console.log(await tools.double({ n: 21 })); (await import('node:fs')).writeFileSync('out', 'made')",
  { tools: ['double'], callTool: async (_, { n }) => ({ twice: 2 * n }) },
)
const escaped = []
for (const language of languages) {
  const attempts = escapeAttempts.filter((attempt) => attempt.language === language)
  const { output } = await run(language, attempts.map(({ code }) => language === 'javascript' ? '{' + code(target) + '}' : code(target)).join('\\n'))
  if (output.includes('ESCAPED') || output.split('tried').length !== attempts.length + 1) escaped.push(output)
}
const forks = await run('javascript', START_CHILDREN)
console.log(JSON.stringify({ uid: process.getuid(), honest, escaped, forks: forks.output }))
`

function source(name: string): string {
  return JSON.stringify(new URL(name, import.meta.url).href)
}

describe.skipIf(!isRoot)('a host process of the user nobody', () => {
  test.each(isolations)('isolates code with %s', { timeout: 60_000 }, (isolation) => {
    const args = [
      '--input-type=module',
      '-e',
      program,
      JSON.stringify({ isolation, languages, target, START_CHILDREN }),
    ]
    const { stdout, stderr } = spawnSync(process.execPath, args, {
      uid: NOBODY,
      gid: NOBODY,
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', TOOLWRIGHT_CANARY: 'canary' },
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
    const { uid, honest, escaped, forks } = JSON.parse(stdout)
    expect(uid).toBe(NOBODY)
    expect(honest).toEqual({
      outcome: 'OK',
      output: '{ twice: 42 }',
      files: [{ name: 'out', mimeType: 'text/plain', data: btoa('made') }],
    })
    expect(escaped).toEqual([])
    expect(Number(forks)).toBeGreaterThan(5)
    expect(Number(forks)).toBeLessThan(32)
  })
})
