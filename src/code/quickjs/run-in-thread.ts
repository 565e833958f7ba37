import { isRecord } from '../../base/json.ts'
import { messageOf } from '../../error/error.ts'
import type { CodeRequest, CodeResult } from '../../tool/code-executor.ts'
import type { Limits } from '../executor-options.ts'
import type { OutputFiles } from '../files/output-files.ts'
import type { Output } from '../output/printed-output.ts'
import type { FromVm } from './thread-messages.ts'
import type { VmThread } from './vm-thread.ts'

/** How long the machine has to stop by itself before its thread is ended. */
const GRACE_MS = 250

export interface QuickJsRun {
  readonly thread: VmThread
  readonly request: CodeRequest
  readonly given: ReadonlyMap<string, Uint8Array>
  readonly limits: Limits
  readonly output: Output
  readonly files: OutputFiles
}

/** How a run came to its end. Only after `done` is the thread still good for another. */
type End =
  | Extract<FromVm, { type: 'done' | 'stopped' }>
  | { readonly type: 'late' }
  | { readonly type: 'aborted' }
  | { readonly type: 'broke'; readonly why: string }
  | { readonly type: 'trouble'; readonly error: unknown }

/** One run in a thread, whatever ends it. Rejects with the signal's reason when aborted, and when nothing could be run. */
export async function runInThread(run: QuickJsRun): Promise<{ outcome: CodeResult['outcome']; isGood: boolean }> {
  const { limits, output, files } = run
  const end = await endOf(run)
  switch (end.type) {
    case 'done':
      for (const [name, bytes] of end.files) files.add(name, bytes)
      if (end.outcome === 'DEADLINE_EXCEEDED') output.note(`stopped after ${limits.timeoutMs} ms`)
      return { outcome: end.outcome, isGood: end.outcome !== 'DEADLINE_EXCEEDED' && !end.isFull }
    case 'stopped':
      output.note(`stopped: ${end.reason}`)
      return { outcome: 'FAILED', isGood: false }
    case 'late':
      output.note(`stopped after ${limits.timeoutMs} ms`)
      return { outcome: 'DEADLINE_EXCEEDED', isGood: false }
    case 'broke':
      output.note(`the engine broke: ${end.why}`)
      return { outcome: 'FAILED', isGood: false }
    case 'aborted':
      throw run.request.signal.reason
    case 'trouble':
      throw end.error
  }
}

function endOf({ thread, request, given, limits, output }: QuickJsRun): Promise<End> {
  const { signal, tools = [], callTool } = request
  const utf8 = new TextEncoder()
  let timer: ReturnType<typeof setTimeout> | undefined
  let abort = (): void => {}
  const end = new Promise<End>((resolve) => {
    abort = () => resolve({ type: 'aborted' })
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    // the last word: what the thread said before is heard first, also when we are late ourselves
    const late = (): unknown => setImmediate(() => resolve({ type: 'late' }))
    thread.hear((message) => {
      if (message.type === 'started') timer = setTimeout(late, limits.timeoutMs + GRACE_MS)
      else if (message.type === 'print') output[message.stream](utf8.encode(message.text))
      else if (message.type === 'call') void answer(thread, request, message)
      else if (message.type === 'done' || message.type === 'stopped') resolve(message)
    })
    thread.ready.then(
      () => {
        thread.send({ type: 'run', code: request.code, files: [...given], tools: callTool ? tools : [] })
        void thread.broke.then((why) => resolve({ type: 'broke', why }))
      },
      (error: unknown) => resolve({ type: 'trouble', error }),
    )
  })
  return end.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    thread.hear(() => {})
  })
}

/** Runs a tool for the code. What it answers after the run's end finds nobody waiting. */
async function answer(
  thread: VmThread,
  request: CodeRequest,
  { id, name, args }: Extract<FromVm, { type: 'call' }>,
): Promise<void> {
  try {
    const read: unknown = JSON.parse(args)
    if (!isRecord(read)) throw new TypeError(`${name} takes one object with its arguments`)
    const result = await request.callTool?.(name, read)
    thread.send({ type: 'answer', id, isGood: true, json: JSON.stringify(result) })
  } catch (error) {
    thread.send({ type: 'answer', id, isGood: false, json: JSON.stringify(messageOf(error)) })
  }
}
