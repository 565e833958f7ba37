// Starts the worker threads that QuickJS virtual machines run in.
import { Worker } from 'node:worker_threads'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { MessageFromVm, MessageToVm, VmWorkerData } from './thread-messages.ts'
import { workerProgram } from './worker-program.ts'

/** The JavaScript heap of the thread. The memory of QuickJS is WebAssembly memory, with a limit of its own. */
const HEAP_MB = 128

/** Large enough that QuickJS reports a stack overflow before the stack of the thread overflows. */
const STACK_MB = 64

/** A worker thread with one QuickJS virtual machine. */
export interface VmThread {
  /** Resolves when the engine is loaded. Rejects when the thread cannot start. */
  readonly ready: Promise<void>
  /** Resolves with the reason when the thread ends by itself. */
  readonly crashed: Promise<string>
  /** Sends a message to the thread. */
  send(message: MessageToVm): void
  /** Sets the only listener for messages of the thread. */
  onMessage(listener: (message: MessageFromVm) => void): void
  /** Whether the thread keeps this process from exiting. */
  setKeepsProcessAlive(keepsAlive: boolean): void
  /** Ends the thread at once, whatever its code does. */
  terminate(): Promise<void>
}

/** Starts a thread with a new virtual machine. */
export function startVmThread(data: VmWorkerData): VmThread {
  const worker = new Worker(workerProgram, {
    eval: typeof workerProgram === 'string',
    name: 'toolwright quickjs',
    workerData: data,
    env: {},
    argv: [],
    execArgv: [],
    stdout: true, // the thread cannot print to the streams of this process
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 32, stackSizeMb: STACK_MB },
  })
  let listener = (_: MessageFromVm): void => {}
  const crashed = new Promise<string>((resolve) => {
    worker.on('error', (error) => resolve(messageOf(error)))
    worker.on('exit', () => resolve('the thread exited'))
  })
  const ready = new Promise<void>((resolve, reject) => {
    worker.on('message', (message: MessageFromVm) => {
      if (message.type === 'ready') resolve()
      else listener(message)
    })
    void crashed.then((reason) =>
      reject(new ToolwrightError('INTERNAL', `The QuickJS thread could not be started: ${reason}`)),
    )
  })
  ready.catch(() => {}) // also when the run was aborted before and does not await it
  return {
    ready,
    crashed,
    send: (message) => worker.postMessage(message),
    onMessage: (newListener) => {
      listener = newListener
    },
    setKeepsProcessAlive: (keepsAlive) => (keepsAlive ? worker.ref() : worker.unref()),
    terminate: async () => {
      await worker.terminate()
    },
  }
}
