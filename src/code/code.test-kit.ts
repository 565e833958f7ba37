// What the tests of executors share: requests, and a look at what this machine can isolate with.
import { vi } from 'vitest'
import type { CodeExecutor, CodeRequest, CodeResult } from '../tool/code-executor.ts'
import { findProgram, isRoot } from './host.ts'
import { isolatedProcess } from './isolated-process.ts'
import type { IsolationName } from './isolation.ts'
import { ask } from './process.ts'

vi.setConfig({ testTimeout: 30_000 }) // a machine may be busy; nothing here is about how long it takes

// The system's own Python rather than one in somebody's home, which a sandbox of another user could not read.
if (findProgram('/usr/bin/python3')) process.env.PATH = `/usr/bin:${process.env.PATH}`

export const hasPython: boolean = found('python3')
export const hasBash: boolean = found('bash')

export function request(code: string, more: Partial<CodeRequest> = {}): CodeRequest {
  return { code, language: '', sessionKey: 'session', signal: new AbortController().signal, ...more }
}

export function run(executor: CodeExecutor, code: string, more?: Partial<CodeRequest>): Promise<CodeResult> {
  return executor.execute(request(code, more))
}

export const file = (name: string, text: string): { name: string; data: string } => ({
  name,
  data: Buffer.from(text).toString('base64'),
})

/** The text of the files of a result, by name. */
export function textsOf({ files = [] }: CodeResult): Record<string, string> {
  return Object.fromEntries(files.map(({ name, data }) => [name, Buffer.from(data, 'base64').toString()]))
}

/**
 * The ways to isolate this machine has. What is not installed, or what the machine forbids by itself, is said and skipped;
 * one that the machine allows and that fails here fails the tests.
 */
export async function isolationsHere(): Promise<IsolationName[]> {
  const all: IsolationName[] = ['unshare', 'bubblewrap']
  const work = await Promise.all(all.map(works))
  return all.filter((_, at) => work[at])
}

async function works(isolation: IsolationName): Promise<boolean> {
  const missing = await whyMissing(isolation)
  if (missing !== undefined) {
    console.warn(`NOT TESTED: ${isolation}: ${missing}`)
    return false
  }
  const { outcome, output } = await run(isolatedProcess({ languages: { sh: ['sh', '{file}'] }, isolation }), 'exit 0')
  if (outcome !== 'OK') throw new Error(`${isolation} is installed and allowed here, but code does not run: ${output}`)
  return true
}

/** Runs the program without us: why this machine cannot isolate with it. */
async function whyMissing(isolation: IsolationName): Promise<string | undefined> {
  const [name = '', ...args] = PLAIN[isolation]
  const program = findProgram(name)
  if (program === undefined) return `${name} is not installed.`
  const { code, err } = await ask([program, ...args], {})
  return code === 0 ? undefined : `this machine does not allow it. ${err}`
}

const PLAIN: Readonly<Record<IsolationName, readonly string[]>> = {
  unshare: ['unshare', ...(isRoot ? [] : ['--user', '--map-root-user']), '--mount', '--pid', '--fork', 'true'],
  bubblewrap: ['bwrap', '--unshare-user', '--disable-userns', '--unshare-pid', '--ro-bind', '/', '/', 'true'],
}

function found(name: string): boolean {
  const isInstalled = process.platform !== 'win32' && findProgram(name) !== undefined
  if (!isInstalled) console.warn(`NOT TESTED: code in ${name}, which is not installed here, or this is Windows.`)
  return isInstalled
}
