// What the tests of executors share: requests, and a look at what this machine can isolate with.
import { vi } from 'vitest'
import { messageOf } from '../error/error.ts'
import type { CodeExecutor, CodeRequest, CodeResult } from '../tool/code-executor.ts'
import { findProgram } from './host.ts'
import { isolatedProcess } from './isolated-process.ts'
import type { IsolationName } from './isolation.ts'

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

/** The ways to isolate that work here. Those that do not are said, so that nobody believes they were tested. */
export async function isolationsHere(): Promise<IsolationName[]> {
  const all: IsolationName[] = ['unshare', 'bubblewrap']
  const work = await Promise.all(all.map(works))
  return all.filter((_, at) => work[at])
}

async function works(isolation: IsolationName): Promise<boolean> {
  try {
    const { outcome } = await run(isolatedProcess({ languages: { sh: ['sh', '{file}'] }, isolation }), 'exit 0')
    return outcome === 'OK'
  } catch (error) {
    console.warn(`NOT TESTED: ${isolation} does not work here. ${messageOf(error)}`)
    return false
  }
}

function found(name: string): boolean {
  const isThere = findProgram(name) !== undefined
  if (!isThere) console.warn(`NOT TESTED: code in ${name}, which is not installed here.`)
  return isThere
}
