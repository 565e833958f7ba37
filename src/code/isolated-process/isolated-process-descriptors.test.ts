// What code inherits, and what the host keeps of the bytes it sends.
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { describe, expect, test } from 'vitest'
import { hasBash, hasPython, isolationsHere, run } from '../executor.test-kit.ts'
import { alive, marker } from '../process/find-processes.test-kit.ts'
import { findProgram } from '../process/machine.ts'
import { isolatedProcess } from './isolated-process.ts'

const isolations = await isolationsHere()
const languages = ['bash', 'python', 'javascript'] as const

/**
 * A child of the code says what it inherited; `ls` itself opens 3 to look. Node inherits nothing on to its children, and
 * opens some descriptors for itself: it says which are sockets, and which are too high to be its own.
 */
const LIST: Record<string, string> = {
  bash: 'ls /proc/self/fd',
  python: 'import subprocess; subprocess.run(["ls", "/proc/self/fd"], close_fds=False)',
  javascript: `import { readdirSync, readlinkSync } from 'node:fs'
for (const name of readdirSync('/proc/self/fd')) {
  try { if (Number(name) > 30 || readlinkSync('/proc/self/fd/' + name).startsWith('socket:')) console.log(name) } catch {}
}`,
}

/** What code in each language says about its descriptors, started by a Node that itself inherited some. */
function descriptors(isolation: string, usesTools: boolean): Record<string, string> {
  const program = `import { isolatedProcess } from ${JSON.stringify(new URL('./isolated-process.ts', import.meta.url).href)}
const { isolation, usesTools, LIST } = JSON.parse(process.argv.at(-1))
const executor = isolatedProcess({ languages: Object.keys(LIST), isolation })
const tools = usesTools ? { tools: ['any'], callTool: async () => ({}) } : {}
const found = {}
for (const language of Object.keys(LIST)) {
  const { output } = await executor.execute({ code: LIST[language], language, sessionKey: '', signal: new AbortController().signal, ...tools })
  found[language] = output.split('\\n').map(Number).sort((a, b) => a - b).join(' ')
}
console.log(JSON.stringify(found))`
  const list = Object.fromEntries(
    Object.entries(LIST).filter(([language]) => (language === 'python' ? hasPython : language !== 'bash' || hasBash)),
  )
  const open = openSync(devNull, 'r')
  const given = [3, 4, 5, 6, 7, 8, 9, 10, 37, 200]
  const stdio = Array.from({ length: 201 }, (_, at) =>
    at < 3 ? ('pipe' as const) : given.includes(at) ? open : ('ignore' as const),
  )
  const args = ['--input-type=module', '-e', program, JSON.stringify({ isolation, usesTools, LIST: list })]
  const { stdout, stderr } = spawnSync(process.execPath, args, { stdio, encoding: 'utf8' })
  closeSync(open)
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

const hasPerl = findProgram('perl', '') !== undefined
if (!hasPerl) console.warn('NOT TESTED: inherited descriptors above 9, which need Perl to be closed.')

describe.skipIf(!hasPerl).each(isolations)('%s', (isolation) => {
  test('code inherits stdin, stdout and stderr, and nothing else', () => {
    const { javascript, ...others } = descriptors(isolation, false)
    expect(javascript).toBe('1 2')
    for (const found of Object.values(others)) expect(found).toBe('0 1 2 3')
  })

  test('code that calls tools inherits the tool channel besides', () => {
    const { javascript, python, bash } = descriptors(isolation, true)
    expect(javascript).toBe('1 2 5 6')
    if (hasPython) expect(python).toBe('0 1 2 3 5 6')
    if (hasBash) expect(bash).toBe('0 1 2 3') // bash has no tools
  })
})

describe.each(isolations)('%s', (isolation) => {
  const executor = isolatedProcess({ languages, isolation })
  const tools = ['any']

  test.skipIf(!hasPython)('a tool call without an end stops the run', async () => {
    const code = 'import os\nwhile True: os.write(5, b"x" * 65536)'
    const callTool = async () => ({})
    expect(await run(executor, code, { language: 'python', tools, callTool })).toEqual({
      outcome: 'FAILED',
      output: '[stopped: a tool call is larger than 1000000 bytes]',
    })
  })

  test.skipIf(!hasPython)('code that never reads the answers of its tools is stopped', async () => {
    let calls = 0
    const callTool = async () => ({ calls: ++calls, text: 'x'.repeat(1_000_000) })
    const code = `import os
while True: os.write(5, b'{"id":1,"name":"any","args":{}}\\n')`
    const { outcome, output } = await run(executor, code, { language: 'python', tools, callTool })
    expect(outcome).toBe('FAILED')
    expect(output).toMatch(/it does not read the answers of its tools|more than 256 tools were called at one time/)
    expect(calls).toBeLessThanOrEqual(257)
  })

  test.skipIf(!hasPython)('what code writes where it should read is not kept', async () => {
    const code = `import os
os.set_blocking(6, False)
count = 0
try:
    while count < 50_000_000: count += os.write(6, b"x" * 65536)
except BlockingIOError: pass
print(count < 5_000_000)`
    const callTool = async () => ({})
    expect(await run(executor, code, { language: 'python', tools, callTool })).toEqual({
      outcome: 'OK',
      output: 'True',
    })
  })

  test.skipIf(!hasPython)('large answers are read one after the other', async () => {
    const callTool = async () => ({ text: 'x'.repeat(1_000_000) })
    const code = 'import tools\nprint(sum(len(tools.any(text="y" * 100_000)["text"]) for _ in range(100)))'
    const { output } = await run(executor, code, { language: 'python', tools, callTool })
    expect(output).toBe('100000000')
  })

  test.skipIf(!hasPython)('descriptors code sends over its own streams hold nothing open', async () => {
    const code = `import array, os, socket
for stream in (1, 2, 5, 6):
    with socket.socket(fileno=os.dup(stream)) as s:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1, 2, 5, 6]))]
        try: s.sendmsg([b"\\n" if stream != 5 else b""], rights)
        except OSError: pass
print("sent")`
    const callTool = async () => ({})
    const { outcome, output } = await run(executor, code, { language: 'python', tools, callTool })
    expect([outcome, output]).toEqual(['OK', expect.stringContaining('sent')])
  })

  test.skipIf(!hasBash)('files with holes are not read beyond what a disk may hold', async () => {
    const code = 'for i in 1 2 3 4 5 6 7 8; do truncate -s 3M file$i; done; echo made'
    const small = isolatedProcess({ languages, isolation, diskBytes: 4_000_000 })
    const { outcome, output } = await run(small, code)
    expect(outcome).toBe('FAILED')
    expect(output).toContain('made\n[stopped: its files are larger than they may be]')
  })

  test.skipIf(!hasPython)('memory is shared through files that count', async () => {
    const code = `from multiprocessing import shared_memory
memory = shared_memory.SharedMemory(create=True, size=1000)
memory.buf[0] = 7
again = shared_memory.SharedMemory(memory.name)
print(again.buf[0])
again.close()
memory.unlink()`
    const { output } = await run(executor, code, { language: 'python' })
    expect(output).toMatch(/^7/)
  })

  test.skipIf(!hasBash)('processes that were stopped are ended with the run', async () => {
    const word = marker()
    const code = `sleep ${word} & kill -STOP $!; setsid sleep ${word} & kill -STOP $!; echo done`
    expect(await run(executor, code)).toEqual({ outcome: 'OK', output: 'done' })
    expect(alive(word)).toEqual([])
  })

  test.skipIf(!hasPython)('files come out although orphans use up all processes', async () => {
    const code = `import os, time
open("out.txt", "w").write("made")
try:
    while True:
        if os.fork() == 0:
            os.setsid()
            time.sleep(1000)
except OSError: print("full")`
    const result = await run(isolatedProcess({ languages, isolation, processes: 16 }), code, { language: 'python' })
    expect(result).toMatchObject({ outcome: 'OK', output: 'full', files: [{ name: 'out.txt' }] })
  })

  test.skipIf(!hasPython)('programs find processors, memory, load and their own processes', async () => {
    const code = `import os
names = ["cpuinfo", "meminfo", "stat", "uptime", "loadavg", "mounts", "net/dev", "self/status", "sys/kernel/osrelease", "sys/vm/overcommit_memory"]
print([name for name in names if not open("/proc/" + name).read()], os.cpu_count() > 0, os.getloadavg()[0] >= 0)`
    expect((await run(executor, code, { language: 'python' })).output).toBe('[] True True')
    const node =
      'const os = await import("node:os"); console.log(os.cpus().length > 0, os.totalmem() > 0, os.hostname())'
    expect((await run(executor, node, { language: 'js' })).output).toBe('true true sandbox')
  })
})
