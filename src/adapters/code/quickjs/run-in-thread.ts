import { isRecord } from '../../../core/base/json.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { CodeRequest, CodeResult } from '../../../engine/tool/code-executor.ts'
import type { ExecutorLimits } from '../executor-options.ts'
import type { OutputFiles } from '../files/output-files.ts'
import type { PrintedOutput } from '../output/printed-output.ts'
import type { MessageFromVm } from './thread-messages.ts'
import type { VmThread } from './vm-thread.ts'

/** How long the virtual machine has to stop at the deadline before its thread is terminated. */
const GRACE_MS = 250

/** One run of code in a QuickJS thread. */
interface ThreadRun {
  /** The thread that runs the code. */
  readonly thread: VmThread
  /** The code, its signal and its tools. */
  readonly request: CodeRequest
  /** Files the code can read, by name. */
  readonly inputFiles: ReadonlyMap<string, Uint8Array>
  /** Deadline and output limits. */
  readonly limits: ExecutorLimits
  /** Collects what the code prints. */
  readonly output: PrintedOutput
  /** Collects the files the code writes. */
  readonly outputFiles: OutputFiles
}

/** How a run in a thread ended. */
interface ThreadRunResult {
  /** The outcome that the model sees. */
  readonly outcome: CodeResult['outcome']
  /** Whether the thread can run code again. */
  readonly isReusable: boolean
}

type ThreadRunEnd =
  | Extract<MessageFromVm, { type: 'done' | 'stopped' }>
  | { readonly type: 'timed-out' }
  | { readonly type: 'aborted' }
  | { readonly type: 'crashed'; readonly reason: string }
  | { readonly type: 'not-started'; readonly error: unknown }

/** Runs code in a thread. Rejects with the signal's reason when aborted, and when the thread cannot start. */
export async function runInThread(run: ThreadRun): Promise<ThreadRunResult> {
  const { limits, output, outputFiles } = run
  const end = await waitForEnd(run)
  switch (end.type) {
    case 'done':
      for (const [name, bytes] of end.files) outputFiles.add(name, bytes)
      if (end.outcome === 'DEADLINE_EXCEEDED') output.addNote(`stopped after ${limits.timeoutMs} ms`)
      return { outcome: end.outcome, isReusable: end.outcome !== 'DEADLINE_EXCEEDED' && !end.isMemoryFull }
    case 'stopped':
      output.addNote(`stopped: ${end.reason}`)
      return { outcome: 'FAILED', isReusable: false }
    case 'timed-out':
      output.addNote(`stopped after ${limits.timeoutMs} ms`)
      return { outcome: 'DEADLINE_EXCEEDED', isReusable: false }
    case 'crashed':
      output.addNote(`the JavaScript engine crashed: ${end.reason}`)
      return { outcome: 'FAILED', isReusable: false }
    case 'aborted':
      throw run.request.signal.reason
    case 'not-started':
      throw end.error
  }
}

function waitForEnd({ thread, request, inputFiles, limits, output }: ThreadRun): Promise<ThreadRunEnd> {
  const { signal, tools = [], callTool } = request
  const utf8 = new TextEncoder()
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort = (): void => {}
  const end = new Promise<ThreadRunEnd>((resolve) => {
    onAbort = () => resolve({ type: 'aborted' })
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort)
    // setImmediate: if this thread is late itself, messages that arrived before the deadline are handled first
    const onTimeout = (): unknown => setImmediate(() => resolve({ type: 'timed-out' }))
    thread.onMessage((message) => {
      if (message.type === 'started') timer = setTimeout(onTimeout, limits.timeoutMs + GRACE_MS)
      else if (message.type === 'print') {
        if (message.stream === 'out') output.addStdout(utf8.encode(message.text))
        else output.addStderr(utf8.encode(message.text))
      } else if (message.type === 'tool-call') void answerToolCall(thread, request, message)
      else if (message.type === 'done' || message.type === 'stopped') resolve(message)
    })
    thread.ready.then(
      () => {
        thread.send({ type: 'run', code: request.code, files: [...inputFiles], tools: callTool ? tools : [] })
        void thread.crashed.then((reason) => resolve({ type: 'crashed', reason }))
      },
      (error: unknown) => resolve({ type: 'not-started', error }),
    )
  })
  return end.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    thread.onMessage(() => {})
  })
}

/** Runs a tool for the code. The thread ignores a result that arrives after the end of the run. */
async function answerToolCall(
  thread: VmThread,
  request: CodeRequest,
  { id, name, args }: Extract<MessageFromVm, { type: 'tool-call' }>,
): Promise<void> {
  try {
    const parsed: unknown = JSON.parse(args)
    if (!isRecord(parsed)) throw new TypeError(`Tool ${JSON.stringify(name)} takes one object with named arguments.`)
    const result = await request.callTool?.(name, parsed)
    thread.send({ type: 'tool-result', id, isSuccess: true, json: JSON.stringify(result) })
  } catch (error) {
    thread.send({ type: 'tool-result', id, isSuccess: false, json: JSON.stringify(messageOf(error)) })
  }
}
