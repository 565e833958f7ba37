// What the executor tests share: code requests, and which isolations work on this machine.
import { vi } from 'vitest'
import type { CodeExecutor, CodeRequest, CodeResult } from '../../engine/tool/code-executor.ts'
import { isolatedProcess } from './isolated-process/isolated-process.ts'
import type { IsolationName } from './isolated-process/isolation.ts'
import { findProgram, isRoot } from './process/machine.ts'
import { runProgram } from './process/run-program.ts'

vi.setConfig({ testTimeout: 30_000 }) // the machine may be busy; no test here measures time

// Prefer the Python of the system to one in a home folder, which a sandbox with another user id could not read.
if (findProgram('/usr/bin/python3')) process.env.PATH = `/usr/bin:${process.env.PATH}`

/** Whether Python is installed. */
export const hasPython: boolean = warnIfMissing('python3')
/** Whether bash is installed. */
export const hasBash: boolean = warnIfMissing('bash')

/** A code request with defaults. */
export function request(code: string, more: Partial<CodeRequest> = {}): CodeRequest {
  return { code, language: '', sessionKey: 'session', signal: new AbortController().signal, ...more }
}

/** Runs code in an executor. */
export function run(executor: CodeExecutor, code: string, more?: Partial<CodeRequest>): Promise<CodeResult> {
  return executor.execute(request(code, more))
}

/** An input file with text. */
export const file = (name: string, text: string): { name: string; data: string } => ({
  name,
  data: Buffer.from(text).toString('base64'),
})

/** The files of a result as text, by name. */
export function textsByName({ files = [] }: CodeResult): Record<string, string> {
  return Object.fromEntries(files.map(({ name, data }) => [name, Buffer.from(data, 'base64').toString()]))
}

/**
 * The isolations that work on this machine. Warns about one that is not installed or that the machine forbids, and skips
 * its tests. Throws when an isolation is allowed but does not run code.
 */
export async function findWorkingIsolations(): Promise<IsolationName[]> {
  const all: IsolationName[] = ['unshare', 'bubblewrap']
  const isWorking = await Promise.all(all.map(works))
  return all.filter((_, at) => isWorking[at])
}

async function works(isolation: IsolationName): Promise<boolean> {
  const missing = await findReasonMissing(isolation)
  if (missing !== undefined) {
    console.warn(`NOT TESTED: ${isolation}: ${missing}`)
    return false
  }
  const { outcome, output } = await run(isolatedProcess({ languages: { sh: ['sh', '{file}'] }, isolation }), 'exit 0')
  if (outcome !== 'OK') throw new Error(`${isolation} is installed and allowed here, but code does not run: ${output}`)
  return true
}

/** Runs the program without Toolwright. Returns the reason if the machine cannot isolate with it. */
async function findReasonMissing(isolation: IsolationName): Promise<string | undefined> {
  const [name = '', ...args] = TRIAL_COMMANDS[isolation]
  const program = findProgram(name)
  if (program === undefined) return `${name} is not installed.`
  const { code, err } = await runProgram([program, ...args], {})
  return code === 0 ? undefined : `this machine does not allow it. ${err}`
}

const TRIAL_COMMANDS: Readonly<Record<IsolationName, readonly string[]>> = {
  unshare: ['unshare', ...(isRoot ? [] : ['--user', '--map-root-user']), '--mount', '--pid', '--fork', 'true'],
  bubblewrap: ['bwrap', '--unshare-user', '--disable-userns', '--unshare-pid', '--ro-bind', '/', '/', 'true'],
}

function warnIfMissing(name: string): boolean {
  const isInstalled = findProgram(name) !== undefined
  if (!isInstalled) console.warn(`NOT TESTED: code in ${name}, which is not installed here.`)
  return isInstalled
}
