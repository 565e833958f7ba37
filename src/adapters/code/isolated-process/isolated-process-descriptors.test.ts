// Descriptors that code inherits, and how much the host keeps of the bytes that code sends over them.
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { describe, expect, test } from 'vitest'
import { findWorkingIsolations, hasBash, hasPython, run } from '../executor.test-kit.ts'
import { processesWithArgument, uniqueArgument } from '../process/find-processes.test-kit.ts'
import { findProgram } from '../process/machine.ts'
import { isolatedProcess } from './isolated-process.ts'

const isolations = await findWorkingIsolations()
const languages = ['bash', 'python', 'javascript'] as const

/**
 * Code that lists its descriptors. In bash and Python, a child process lists what it inherits; `ls` itself opens
 * descriptor 3. Node passes nothing on to its children and opens descriptors of its own, so it lists only sockets and
 * descriptors above 30.
 */
const LIST_DESCRIPTORS: Record<string, string> = {
  bash: 'ls /proc/self/fd',
  python: 'import subprocess; subprocess.run(["ls", "/proc/self/fd"], close_fds=False)',
  javascript: `import { readdirSync, readlinkSync } from 'node:fs'
for (const name of readdirSync('/proc/self/fd')) {
  try { if (Number(name) > 30 || readlinkSync('/proc/self/fd/' + name).startsWith('socket:')) console.log(name) } catch {}
}`,
}

/** The descriptors that code of each language finds when the host itself inherited some. */
function listDescriptors(isolation: string, usesTools: boolean): Record<string, string> {
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
    Object.entries(LIST_DESCRIPTORS).filter(([language]) =>
      language === 'python' ? hasPython : language !== 'bash' || hasBash,
    ),
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
if (!hasPerl) console.warn('NOT TESTED: inherited descriptors above 9. Closing them needs Perl.')

describe.skipIf(!hasPerl).each(isolations)('code isolated with %s', (isolation) => {
  test('inherits only stdin, stdout and stderr', () => {
    const { javascript, ...others } = listDescriptors(isolation, false)
    expect(javascript).toBe('1 2')
    for (const found of Object.values(others)) expect(found).toBe('0 1 2 3')
  })

  test('inherits the tool channel if it can call tools', () => {
    const { javascript, python, bash } = listDescriptors(isolation, true)
    expect(javascript).toBe('1 2 5 6')
    if (hasPython) expect(python).toBe('0 1 2 3 5 6')
    if (hasBash) expect(bash).toBe('0 1 2 3') // bash has no tools
  })
})

describe.each(isolations)('the host of code isolated with %s', (isolation) => {
  const executor = isolatedProcess({ languages, isolation })
  const tools = ['any']

  test.skipIf(!hasPython)('stops the run at an endless tool call', async () => {
    const code = 'import os\nwhile True: os.write(5, b"x" * 65536)'
    const callTool = async () => ({})
    expect(await run(executor, code, { language: 'python', tools, callTool })).toEqual({
      outcome: 'FAILED',
      output: '[stopped: a tool call is larger than 1000000 bytes]',
    })
  })

  test.skipIf(!hasPython)('stops code that does not read the results of its tool calls', async () => {
    let calls = 0
    const callTool = async () => ({ calls: ++calls, text: 'x'.repeat(1_000_000) })
    const code = `import os
while True: os.write(5, b'{"id":1,"name":"any","args":{}}\\n')`
    const { outcome, output } = await run(executor, code, { language: 'python', tools, callTool })
    expect(outcome).toBe('FAILED')
    expect(output).toMatch(
      /the code does not read the results of its tool calls|the code made more than 256 tool calls at one time/,
    )
    expect(calls).toBeLessThanOrEqual(257)
  })

  test.skipIf(!hasPython)('does not buffer what code writes to the descriptor for results', async () => {
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

  test.skipIf(!hasPython)('sends 100 MB of tool results one after the other', async () => {
    const callTool = async () => ({ text: 'x'.repeat(1_000_000) })
    const code = 'import tools\nprint(sum(len(tools.any(text="y" * 100_000)["text"]) for _ in range(100)))'
    const { output } = await run(executor, code, { language: 'python', tools, callTool })
    expect(output).toBe('100000000')
  })

  test.skipIf(!hasPython)('does not wait for descriptors that code sends over its pipes', async () => {
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

  test.skipIf(!hasBash)('stops reading sparse files above diskBytes', async () => {
    const code = 'for i in 1 2 3 4 5 6 7 8; do truncate -s 3M file$i; done; echo made'
    const small = isolatedProcess({ languages, isolation, diskBytes: 4_000_000 })
    const { outcome, output } = await run(small, code)
    expect(outcome).toBe('FAILED')
    expect(output).toContain('made\n[stopped: the files of the code are larger than 4000000 bytes]')
  })

  test.skipIf(!hasPython)('lets processes of the code share memory', async () => {
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

  test.skipIf(!hasBash)('kills processes that were stopped with SIGSTOP', async () => {
    const argument = uniqueArgument()
    const code = `sleep ${argument} & kill -STOP $!; setsid sleep ${argument} & kill -STOP $!; echo done`
    expect(await run(executor, code)).toEqual({ outcome: 'OK', output: 'done' })
    expect(processesWithArgument(argument)).toEqual([])
  })

  test.skipIf(!hasPython)('reads output files even if orphans use up the process limit', async () => {
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

  test.skipIf(!hasPython)('shows the code processors, memory, load and its own processes in /proc', async () => {
    const code = `import os
names = ["cpuinfo", "meminfo", "stat", "uptime", "loadavg", "mounts", "net/dev", "self/status", "sys/kernel/osrelease", "sys/vm/overcommit_memory"]
print([name for name in names if not open("/proc/" + name).read()], os.cpu_count() > 0, os.getloadavg()[0] >= 0)`
    expect((await run(executor, code, { language: 'python' })).output).toBe('[] True True')
    const node =
      'const os = await import("node:os"); console.log(os.cpus().length > 0, os.totalmem() > 0, os.hostname())'
    expect((await run(executor, node, { language: 'js' })).output).toBe('true true sandbox')
  })
})
