import type { CodeRequest } from '../../tool/code-executor.ts'
import type { Limits } from '../executor-options.ts'
import type { Output } from '../output/printed-output.ts'
import { ToolLines } from '../tool-calls/tool-channel.ts'
import type { Running, StartOptions } from './child-process.ts'

/** Descriptors code writes its calls of tools to, and reads the answers from. */
export const REQUESTS = 5
export const ANSWERS = 6

export interface CodeRun {
  readonly request: CodeRequest
  readonly limits: Limits
  readonly output: Output
  /** The code can speak to us on the descriptors for tools. */
  readonly usesTools: boolean
  start(pipes: RunPipes): Promise<Running>
  /** Looks after it while it runs, and stops it with a reason; gives what ends the looking. */
  watch?(stop: (reason: string) => void): () => void
}

/** What a process is started with: the streams that are read and written here, and how a reader stops the run. */
export interface RunPipes extends Required<Pick<StartOptions, 'listen' | 'speak'>> {
  stop(reason: string): void
}

/** How a process came to its end: by itself, or stopped by us and why. */
export type End = { readonly code: number | undefined } | { readonly stopped: 'deadline' | { readonly reason: string } }

/** Follows one process from its start to its end, whatever ends it. Rejects with the signal's reason when aborted. */
export async function followRun(run: CodeRun): Promise<End> {
  const { request, limits, output } = run
  const { signal, callTool } = request
  signal.throwIfAborted()
  let running: Running | undefined
  let stopped: 'deadline' | 'abort' | { readonly reason: string } | undefined
  const stop = (why: NonNullable<typeof stopped>): void => {
    stopped ??= why
    running?.stop()
  }
  const refuse = (reason: string): void => stop({ reason })
  const hear = (to: (chunk: Uint8Array) => void) => (chunk: Uint8Array) => {
    to(chunk)
    if (output.isFlood) refuse('it printed without end')
  }
  const lines =
    callTool && run.usesTools
      ? new ToolLines({
          callTool: (name, args) => callTool.call(request, name, args),
          reply: async (line) => running?.write(ANSWERS, line),
          refuse,
        })
      : undefined
  const listen = new Map([
    [1, hear((chunk) => output.out(chunk))],
    [2, hear((chunk) => output.err(chunk))],
  ])
  if (lines) listen.set(REQUESTS, (chunk) => lines.push(chunk))
  const abort = (): void => stop('abort')
  signal.addEventListener('abort', abort)
  let timer: ReturnType<typeof setTimeout> | undefined
  let unwatch: (() => void) | undefined
  try {
    running = await run.start({ listen, speak: lines ? [ANSWERS] : [], stop: refuse })
    if (stopped) running.stop()
    timer = setTimeout(() => stop('deadline'), limits.timeoutMs)
    unwatch = run.watch?.(refuse)
    const { code } = await running.ended
    if (stopped === 'abort') throw signal.reason
    return stopped ? { stopped } : { code }
  } finally {
    clearTimeout(timer)
    unwatch?.()
    lines?.end()
    signal.removeEventListener('abort', abort)
  }
}
