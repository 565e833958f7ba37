import { startProcess } from './child-process.ts'

/** Time limit in milliseconds. A program that runs longer is killed. */
const TIMEOUT_MS = 20_000

/** Bytes kept of each stream. */
const MAX_OUTPUT_BYTES = 100_000

/** How a program ended and what it printed. */
interface ProgramOutput {
  /** Exit code; undefined if a signal ended the program. */
  readonly code: number | undefined
  /** The first 100 000 bytes of stdout. */
  readonly out: string
  /** The first 100 000 bytes of stderr. */
  readonly err: string
}

/** Runs a trusted program of this machine to its end, such as `bwrap --help` or `docker rm`. */
export async function runProgram(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ProgramOutput> {
  const [out, err] = [new FirstBytes(), new FirstBytes()]
  const outputHandlers = new Map([
    [1, (chunk: Uint8Array) => out.push(chunk)],
    [2, (chunk: Uint8Array) => err.push(chunk)],
  ])
  const running = await startProcess({ command, env, outputHandlers, mayLeaveProcesses: true })
  const timer = setTimeout(running.stop, TIMEOUT_MS)
  const { code } = await running.ended.finally(() => clearTimeout(timer))
  return { code, out: out.toString(), err: err.toString() }
}

class FirstBytes {
  readonly #chunks: Uint8Array[] = []
  #remainingBytes = MAX_OUTPUT_BYTES

  push(chunk: Uint8Array): void {
    if (this.#remainingBytes > 0) this.#chunks.push(chunk.slice(0, this.#remainingBytes))
    this.#remainingBytes -= chunk.length
  }

  toString(): string {
    return Buffer.concat(this.#chunks).toString()
  }
}
