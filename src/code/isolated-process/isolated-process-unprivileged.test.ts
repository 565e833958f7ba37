// Whoever has no rights can isolate code as well as root can. Where the tests are run by root, they ask a process of
// nobody to; elsewhere all the others are run by a user already.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { hasBash, hasPython, isolationsHere } from '../executor.test-kit.ts'
import { isRoot } from '../process/machine.ts'

const NOBODY = 65534
const isolations = await isolationsHere()
const languages = ['javascript', ...(hasBash ? ['bash'] : []), ...(hasPython ? ['python'] : [])]
const folder = mkdtempSync(join(tmpdir(), 'toolwright-nobody-'))
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

/** Starts children that sleep, as many as it can up to a hundred, and says how many there are. */
const FORKS = `const { spawn } = await import('node:child_process')
const started = (child) => new Promise((resolve) => child.on('spawn', () => resolve(1)).on('error', () => resolve(0)))
let count = 0
for (let i = 0; i < 100; i++) count += await started(spawn('sleep', ['20'])).catch(() => 0)
console.log(count)
process.exit()`

const program = `
import { isolatedProcess } from ${source('./isolated-process.ts')}
import { attacks } from ${source('./escape-attempts.test-kit.ts')}
const { isolation, languages, target, FORKS } = JSON.parse(process.argv.at(-1))
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
  const mine = attacks.filter((attack) => attack.language === language)
  const { output } = await run(language, mine.map(({ code }) => language === 'javascript' ? '{' + code(target) + '}' : code(target)).join('\\n'))
  if (output.includes('ESCAPED') || output.split('tried').length !== mine.length + 1) escaped.push(output)
}
const forks = await run('javascript', FORKS)
console.log(JSON.stringify({ uid: process.getuid(), honest, escaped, forks: forks.output }))
`

function source(name: string): string {
  return JSON.stringify(new URL(name, import.meta.url).href)
}

describe.skipIf(!isRoot)('a process of nobody', () => {
  test.each(isolations)('isolates with %s', { timeout: 60_000 }, (isolation) => {
    const args = ['--input-type=module', '-e', program, JSON.stringify({ isolation, languages, target, FORKS })]
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
