// What the operating system refuses. Where the tests are run by root, who may do anything, they ask a process of nobody.
import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { eventIds, HOME } from '../testing/session-fixtures.ts'
import { temporaryFile } from './file.test-kit.ts'
import { sqlite } from './sqlite.ts'

vi.setConfig({ testTimeout: 60_000 }) // processes start slowly on a busy machine
if (process.platform === 'win32') console.warn('NOT TESTED: file permissions and limits, which Windows does not have.')

const NOBODY = 65534
const SOURCE = JSON.stringify(new URL('./sqlite.ts', import.meta.url).href)

describe.skipIf(process.platform === 'win32')('on a system with permissions and limits', () => {
  test.each([
    ['a file that may not be written', 0o444, 0o777, 'it may not be written'],
    [
      'a folder in which nothing may be made',
      0o666,
      0o555,
      'cannot be written. Check who may write to the file and its folder',
    ],
  ])('%s is refused with what to do, and else it opens', (_what, fileMode, folderMode, message) => {
    const file = temporaryFile()
    sqlite(file).close()
    const opens = `sqlite(${JSON.stringify(file)}).close(); console.log('opened')`
    chmodSync(file, 0o666)
    chmodSync(dirname(file), 0o777)
    expect(asNobody(opens)).toBe('opened')
    chmodSync(file, fileMode)
    chmodSync(dirname(file), folderMode)
    const refused = asNobody(opens)
    chmodSync(dirname(file), 0o777)
    expect(refused).toContain('INVALID_CONFIG')
    expect(refused).toContain(message)
  })

  test('a disk that takes no more ends the writing, and what was written is whole', async () => {
    const file = temporaryFile()
    const said = limitedTo(
      400, // blocks of 512 bytes, for each file
      `const { sessionService } = sqlite(${JSON.stringify(file)})
       const key = ${JSON.stringify(HOME)}
       await sessionService.createSession(key)
       const lease = await sessionService.claim(key)
       const event = (id) => ({ id, invocationId: 'i', author: 'x', timestamp: 1, actions: { stateDelta: { text: 'x'.repeat(5000) } } })
       for (let seq = 0; ; seq++) {
         console.log(seq)
         await sessionService.append(lease, seq, [{ event: event('e' + seq) }])
       }`,
    ).split('\n')
    expect(said.pop()).toMatch(/^STORAGE The database .* (?:Check its disk|Make room on its disk)/)
    using services = sqlite(file)
    const count = Number(said.pop())
    expect(count).toBeGreaterThan(1)
    expect(await eventIds(services.sessionService, HOME)).toEqual(Array.from({ length: count }, (_, seq) => `e${seq}`))
  })
})

/** What a program of ours prints: the error it ends with is its last line. */
function asNobody(code: string): string {
  const isRoot = process.getuid?.() === 0
  return printed(spawnSync(process.execPath, node(code), isRoot ? { uid: NOBODY, gid: NOBODY } : {}))
}

function limitedTo(blocks: number, code: string): string {
  return printed(spawnSync('sh', ['-c', `ulimit -f ${blocks} && exec "$0" "$@"`, process.execPath, ...node(code)]))
}

function node(code: string): string[] {
  const program = `const { sqlite } = await import(${SOURCE})
    try { ${code} } catch (error) { console.log(error.code, error.message) }`
  return ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program]
}

function printed({ stdout, stderr }: { stdout: Buffer; stderr: Buffer }): string {
  expect(String(stderr)).toBe('')
  return String(stdout).trim()
}
