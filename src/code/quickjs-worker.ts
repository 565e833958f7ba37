// The thread a QuickJS machine lives in. Whatever happens in it, ending the thread ends it.
import { parentPort, workerData } from 'node:worker_threads'
import { ToolwrightError } from '../error/error.ts'
import { peer } from '../error/peer.ts'
import { QuickJsVm } from './quickjs-vm.ts'
import { VmFiles } from './vm-files.ts'
import type { FromVm, ToVm, VmWorkerData } from './vm-messages.ts'

/** What is printed is sent in pieces of about this size: a message for each line would be slow. */
const PIECE = 4096

const port = parentPort as NonNullable<typeof parentPort> // a worker has one
const options: VmWorkerData = workerData
const files = new VmFiles(options.maxFiles, options.maxFileBytes)
const printed = { out: '', err: '' }
let printedBytes = 0

const send = (message: FromVm): void => port.postMessage(message)

function flush(): void {
  for (const stream of ['out', 'err'] as const) {
    if (printed[stream] !== '') send({ type: 'print', stream, text: printed[stream] })
    printed[stream] = ''
  }
}

function print(stream: 'out' | 'err', text: string): boolean {
  printedBytes += text.length
  if (printedBytes > options.maxPrintedBytes) return false
  printed[stream] += text
  if (printed[stream].length > PIECE) flush()
  return true
}

async function start(): Promise<void> {
  const { getQuickJS } = await peer('quickjs-emscripten', () => import('quickjs-emscripten'))
  const vm = new QuickJsVm(await getQuickJS(), options, {
    files,
    print,
    tick: flush,
    call: (id, name, args) => send({ type: 'call', id, name, args }),
  })
  port.on('message', async (message: ToVm) => {
    if (message.type === 'answer') {
      vm.settle(message.id, message.isGood, message.json)
      return
    }
    printedBytes = 0
    files.begin(message.files)
    const outcome = await vm.run(message.code, message.tools)
    flush()
    send({ type: 'done', outcome, files: files.written })
  })
  send({ type: 'ready' })
}

start().catch((error: unknown) => {
  if (!(error instanceof ToolwrightError)) throw error
  send({ type: 'missing', message: error.message })
})
