// Runs a program with `files()` in another process.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

const SOURCE = JSON.stringify(new URL('./files.ts', import.meta.url).href)

/** Starts a program. In it, `service` stores artifacts in the folder. `fileBlocks` limits its files, to blocks of 512 bytes. */
export function startProgram(folder: string, code: string, fileBlocks?: number): ChildProcess {
  const program = `const { files } = await import(${SOURCE})
    const service = files(${JSON.stringify(folder)}).artifactService
    try { ${code} } catch (error) { console.log(error.code, error.message) }`
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program]
  const child = fileBlocks
    ? spawn('sh', ['-c', `ulimit -f ${fileBlocks} && exec "$0" "$@"`, process.execPath, ...args])
    : spawn(process.execPath, args)
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** Runs a program to its end. Returns what it printed. */
export async function runProgram(folder: string, code: string, fileBlocks?: number): Promise<string> {
  const child = startProgram(folder, code, fileBlocks)
  const [printed, errors] = await Promise.all([text(child.stdout as never), text(child.stderr as never)])
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return (printed + errors).trim()
}
