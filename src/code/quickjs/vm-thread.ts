// Threads for QuickJS machines.
import { Worker } from 'node:worker_threads'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import type { FromVm, ToVm, VmWorkerData } from './thread-messages.ts'
import { workerProgram } from './worker-program.ts'

/** The thread's own heap; the machine's memory is limited by itself. */
const HEAP_MB = 128

/** So much that the machine finds its own stack full before the thread's is. */
const STACK_MB = 64

export interface VmThread {
  /** Rejects when it could not be started. */
  readonly ready: Promise<void>
  /** What ended it, when it ends by itself. */
  readonly broke: Promise<string>
  send(message: ToVm): void
  hear(listener: (message: FromVm) => void): void
  /** Whether it keeps this process alive. */
  hold(isHeld: boolean): void
  end(): Promise<void>
}

export function startThread(data: VmWorkerData): VmThread {
  const worker = new Worker(workerProgram, {
    eval: typeof workerProgram === 'string',
    name: 'toolwright quickjs',
    workerData: data,
    env: {},
    argv: [],
    execArgv: [],
    stdout: true, // nothing it could print is for our own streams
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 32, stackSizeMb: STACK_MB },
  })
  let listener = (_: FromVm): void => {}
  const broke = new Promise<string>((resolve) => {
    worker.on('error', (error) => resolve(messageOf(error)))
    worker.on('exit', () => resolve('it ended'))
  })
  const ready = new Promise<void>((resolve, reject) => {
    worker.on('message', (message: FromVm) => {
      if (message.type === 'ready') resolve()
      else listener(message)
    })
    void broke.then((why) => reject(new ToolwrightError('INTERNAL', `QuickJS could not be started: ${why}`)))
  })
  ready.catch(() => {}) // also when nobody waits for it any more
  return {
    ready,
    broke,
    send: (message) => worker.postMessage(message),
    hear: (given) => {
      listener = given
    },
    hold: (isHeld) => (isHeld ? worker.ref() : worker.unref()),
    end: async () => {
      await worker.terminate()
    },
  }
}
