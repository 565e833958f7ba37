import type { CodeRequest } from '../../../engine/tool/code-executor.ts'
import type { ExecutorLimits } from '../executor-options.ts'
import type { PrintedOutput } from '../output/printed-output.ts'
import { ToolChannel } from '../tool-calls/tool-channel.ts'
import type { ProcessOptions, RunningProcess } from './child-process.ts'

/** The descriptor the code writes its tool calls to. */
const TOOL_REQUESTS = 5
/** The descriptor the code reads the results of its tool calls from. */
const TOOL_RESULTS = 6

/** One run of code in a process. */
interface SupervisedRun {
  /** The code, its signal and its tools. */
  readonly request: CodeRequest
  /** Deadline and output limits. */
  readonly limits: ExecutorLimits
  /** Collects what the code prints. */
  readonly output: PrintedOutput
  /** Whether the code can call tools over descriptors 5 and 6. */
  readonly usesTools: boolean
  /** Starts the process with these pipes. */
  start(pipes: RunPipes): Promise<RunningProcess>
  /** Watches the running process and stops it with a reason. Returns a function that ends the watch. */
  watch?(stop: (reason: string) => void): () => void
}

/** The pipes of a process, and a way for a handler to stop the run. */
interface RunPipes extends Required<Pick<ProcessOptions, 'outputHandlers' | 'writableDescriptors'>> {
  /** Stops the run. The model sees the reason. */
  stop(reason: string): void
}

/** How a process ended: by itself with an exit code, or stopped at the deadline or for a reason. */
export type RunEnd =
  | { readonly code: number | undefined }
  | { readonly stopped: 'deadline' | { readonly reason: string } }

/**
 * Supervises one process from its start to its end: output, tool calls, deadline, abort. Rejects with the signal's reason
 * when the request is aborted.
 */
export async function superviseRun(run: SupervisedRun): Promise<RunEnd> {
  const { request, limits, output } = run
  const { signal, callTool } = request
  signal.throwIfAborted()
  let running: RunningProcess | undefined
  let stopped: 'deadline' | 'abort' | { readonly reason: string } | undefined
  const stopFor = (cause: NonNullable<typeof stopped>): void => {
    stopped ??= cause
    running?.stop()
  }
  const stop = (reason: string): void => stopFor({ reason })
  const stopWhenFlooding = (add: (chunk: Uint8Array) => void) => (chunk: Uint8Array) => {
    add(chunk)
    if (output.isFlooding) stop(`the code printed more than ${output.floodBytes} bytes`)
  }
  const toolChannel =
    callTool && run.usesTools
      ? new ToolChannel({
          callTool: (name, args) => callTool.call(request, name, args),
          sendLine: async (line) => running?.write(TOOL_RESULTS, line),
          stopRun: stop,
        })
      : undefined
  const outputHandlers = new Map([
    [1, stopWhenFlooding((chunk) => output.addStdout(chunk))],
    [2, stopWhenFlooding((chunk) => output.addStderr(chunk))],
  ])
  if (toolChannel) outputHandlers.set(TOOL_REQUESTS, (chunk) => toolChannel.push(chunk))
  const onAbort = (): void => stopFor('abort')
  signal.addEventListener('abort', onAbort)
  let timer: ReturnType<typeof setTimeout> | undefined
  let endWatch: (() => void) | undefined
  try {
    running = await run.start({ outputHandlers, writableDescriptors: toolChannel ? [TOOL_RESULTS] : [], stop })
    if (stopped) running.stop()
    timer = setTimeout(() => stopFor('deadline'), limits.timeoutMs)
    endWatch = run.watch?.(stop)
    const { code } = await running.ended
    if (stopped === 'abort') throw signal.reason
    return stopped ? { stopped } : { code }
  } finally {
    clearTimeout(timer)
    endWatch?.()
    toolChannel?.close()
    signal.removeEventListener('abort', onAbort)
  }
}

/** Why a run is stopped that sends a larger archive than its disk can hold. */
export function filesTooLarge({ diskBytes }: { readonly diskBytes: number }): string {
  return `the files of the code are larger than ${diskBytes} bytes`
}
