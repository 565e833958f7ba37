// Permissions and limits of the operating system. Root may do anything, so the tests start a process of the user nobody.
import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { eventIds, HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

vi.setConfig({ testTimeout: 60_000 }) // processes start slowly on a busy machine
if (process.platform === 'win32') console.warn('NOT TESTED: file permissions and limits, which Windows does not have.')

const NOBODY = 65534
const SOURCE = JSON.stringify(new URL('./sqlite.ts', import.meta.url).href)

describe.skipIf(process.platform === 'win32')('sqlite()', () => {
  test.each([
    ['a read-only file', 0o444, 0o777, 'it is not writable'],
    ['a read-only folder', 0o666, 0o555, 'is read-only. Check the permissions of the file and its folder'],
  ])('rejects %s with advice', (_what, fileMode, folderMode, message) => {
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

  test('stops writing at the file size limit and keeps all commits', async () => {
    const file = temporaryFile()
    const said = limitedTo(
      1000, // blocks of 512 bytes, for each file: more than the empty tables take
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
    expect(said.pop()).toMatch(/^STORAGE The database .* (?:Check its disk|Free disk space)/)
    using services = sqlite(file)
    const count = Number(said.pop())
    expect(count).toBeGreaterThan(1)
    expect(await eventIds(services.sessionService, HOME)).toEqual(Array.from({ length: count }, (_, seq) => `e${seq}`))
  })
})

/** The output of a program; its last line is the error it ended with. */
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
