import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { file, isolationsHere, run, textsOf } from '../executor.test-kit.ts'
import { alive, marker } from '../process/find-processes.test-kit.ts'
import { isRoot } from '../process/machine.ts'
import { type DockerOptions, docker } from './docker.ts'

const IMAGE = 'python:3.13-slim'
const isolations = await isolationsHere()

/** What is the same with every engine. */
function suite(make: (options?: Partial<DockerOptions>) => ReturnType<typeof docker>): void {
  test('code runs, with its files', async () => {
    const code = 'cat in.txt; echo bad >&2; echo new > out.txt; exit 3'
    const result = await run(make(), code, { files: [file('in.txt', 'given\n')] })
    expect(result).toMatchObject({ outcome: 'FAILED', output: 'given\n--- stderr ---\nbad\n[exit code 3]' })
    expect(textsOf(result)).toEqual({ 'out.txt': 'new\n' })
  })

  test('what it prints without a newline, or of our own words, is its own', async () => {
    expect(await run(make(), 'printf toolwright-; printf x')).toEqual({ outcome: 'OK', output: 'toolwright-x' })
  })

  test('it ends at the deadline, with all it started', async () => {
    const word = marker()
    const result = await run(make({ timeoutMs: 1500 }), `echo before; setsid sleep ${word} & sleep ${word}`)
    expect(result).toEqual({ outcome: 'DEADLINE_EXCEEDED', output: 'before\n[stopped after 1500 ms]' })
    expect(alive(word)).toEqual([])
  })

  test('it ends when nobody waits any more', async () => {
    const word = marker()
    const stop = new AbortController()
    const running = run(make(), `sleep ${word}`, { signal: stop.signal })
    await vi.waitFor(() => expect(alive(word)).not.toEqual([]), { timeout: 20_000 })
    stop.abort(new Error('gone'))
    await expect(running).rejects.toThrow('gone')
    expect(alive(word)).toEqual([])
  })
}

// A stand-in for the engine: it takes the same words, and runs what stands behind the image in namespaces of its own.
describe.skipIf(!isolations.includes('unshare'))('with a stand-in for the engine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-docker-'))
  const program = join(folder, 'docker')
  const log = join(folder, 'log')
  const own = isRoot ? '' : '--user --map-root-user '
  beforeAll(() => {
    writeFileSync(
      program,
      `#!/bin/sh
case $1 in
  rm)
    echo "$*" >> ${log}
    kill -KILL $(cat ${folder}/$3) 2> /dev/null
    exit 0
    ;;
esac
name=
while [ "$1" != sh ]; do [ "$1" != --name ] || name=$2; shift; done
[ "$2" != silent ] || exit 125
[ "$2" != missing ] || { echo 'Unable to find image' >&2; exit 125; }
shift 2
echo $$ > ${folder}/$name
exec unshare ${own}--pid --fork --kill-child=KILL --mount sh -c 'mount -t tmpfs none /tmp; mount -t proc none /proc; cd /tmp; exec sh "$@"' sh "$@"
`,
    )
    chmodSync(program, 0o755)
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  const make = (options: Partial<DockerOptions> = {}) =>
    docker({ image: IMAGE, languages: { sh: ['sh', '{file}'] }, program, ...options })
  suite(make)

  test('a container that is stopped is removed by its name', async () => {
    await run(make({ timeoutMs: 300 }), 'sleep 30')
    expect(readFileSync(log, 'utf8').trim().split('\n').at(-1)).toMatch(/^rm --force toolwright-[a-z2-7]{26}$/)
  })

  test('code that sends files without end is stopped', async () => {
    const code = `mark=$(tr '\\0' '\\n' < /proc/1/cmdline | grep '^toolwright-' | head -n 1); printf %s "$mark"; cat /dev/zero`
    const { outcome, output } = await run(make({ diskBytes: 1_000_000 }), code)
    expect({ outcome, output }).toEqual({
      outcome: 'FAILED',
      output: '[stopped: its files are larger than they may be]',
    })
  })

  test('an engine that cannot start a container is trouble of ours', async () => {
    await expect(run(make({ image: 'missing' }), '')).rejects.toThrow(
      'The container could not be started: --- stderr ---\nUnable to find image',
    )
  })

  test('an engine that fails without a word is named with its exit code', async () => {
    await expect(run(make({ image: 'silent' }), '')).rejects.toThrow(
      `The container could not be started: ${program} ended with exit code 125 and printed nothing. Try: ${program} run --rm silent true`,
    )
  })
})

const info = spawnSync('docker', ['info'], { encoding: 'utf8' })
const image = info.status === 0 ? spawnSync('docker', ['image', 'inspect', IMAGE]).status : 1
if (info.status !== 0)
  console.warn(
    `NOT TESTED: no Docker engine here. ${(info.stderr || info.error?.message || '').trim().split('\n').at(-1)}`,
  )
else if (image !== 0) console.warn(`NOT TESTED: Docker is here, but not its image. Run: docker pull ${IMAGE}`)

describe.skipIf(info.status !== 0 || image !== 0)('with Docker', () => {
  suite((options = {}) => docker({ image: IMAGE, languages: { sh: ['sh', '{file}'] }, ...options }))

  test('nobody in particular, and no network', async () => {
    const python = docker({ image: IMAGE, languages: ['python'] })
    const code = `import os, socket
print(os.getuid(), os.access("/etc/passwd", os.W_OK))
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("8.8.8.8", 53)) # sends nothing
    print("ESCAPED")
except OSError:
    print("refused")`
    expect((await run(python, code)).output).toBe('65534 False\nrefused')
  })
})

describe('what is built', () => {
  test('says what is wrong', async () => {
    const wrong = (options: object) => () =>
      docker({ image: IMAGE, languages: ['python'], ...options } as DockerOptions)
    expect(wrong({ image: '--privileged' })).toThrow('"--privileged" is no name of an image')
    expect(wrong({ image: '' })).toThrow('is no name of an image')
    expect(wrong({ cpus: 0 })).toThrow('cpus must be above 0')
    expect(wrong({ memoryBytes: -1 })).toThrow('memoryBytes must be')
    expect(wrong({ languages: [] })).toThrow('languages is empty')
    await expect(run(wrong({ program: 'no-such-engine' })(), '')).rejects.toThrow('"no-such-engine" was not found')
  })

  test('an unknown language is an answer, and nothing is started', async () => {
    const executor = docker({ image: IMAGE, languages: ['python'], program: 'no-such-engine' })
    expect((await run(executor, '', { language: 'ruby' })).output).toBe('"ruby" cannot be run here, only: python.')
  })

  test('code in a container has no tools', () => {
    const { callsTools, instruction } = docker({ image: IMAGE, languages: ['python'] })
    expect(callsTools).toBeUndefined()
    expect(instruction).not.toContain('tools')
  })
})
