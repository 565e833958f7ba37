// The thread a QuickJS machine lives in. Whatever happens in it, ending the thread ends it.
import { parentPort, workerData } from 'node:worker_threads'
import releaseSync from '@jitl/quickjs-wasmfile-release-sync'
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSSyncVariant } from 'quickjs-emscripten-core'
import type { FromVm, ToVm, VmWorkerData } from './thread-messages.ts'
import { QuickJsVm } from './vm.ts'
import { VmFiles } from './vm-files.ts'
import { wasmBinary } from './wasm-binary.ts'

/** What is printed is sent at once, so that it is not lost with the thread; when it is much, in larger pieces. */
const AT_ONCE = 1000
const PIECE = 4096

/** What the engine starts with, and what it needs for its own stack and tables. */
const PAGE = 65_536
const LEAST_PAGES = 256
const OWN_BYTES = 6_000_000

/** It grows in steps, the last of which may not fit. */
const NEARLY = 0.95

const pagesFor = (bytes: number): number => Math.max(LEAST_PAGES + 16, Math.ceil((OWN_BYTES + bytes) / PAGE))

// its types describe its CommonJS file; an import gets the variant itself
const release = releaseSync as unknown as QuickJSSyncVariant

const port = parentPort as NonNullable<typeof parentPort> // a worker has one
const options: VmWorkerData = workerData
const files = new VmFiles(options.maxFiles, options.maxFileBytes)
const printed = { out: '', err: '' }
let pieces = 0

const send = (message: FromVm): void => port.postMessage(message)

function flush(): void {
  for (const stream of ['out', 'err'] as const) {
    if (printed[stream] !== '') send({ type: 'print', stream, text: printed[stream] })
    printed[stream] = ''
  }
}

function print(stream: 'out' | 'err', text: string): void {
  printed[stream] += text
  if (++pieces < AT_ONCE || printed[stream].length > PIECE) flush()
}

async function start(): Promise<void> {
  // QuickJS counts what it allocates, but in WebAssembly it cannot see how much that was: the memory itself is limited.
  const maximum = pagesFor(options.memoryBytes)
  const wasmMemory = new WebAssembly.Memory({ initial: LEAST_PAGES, maximum })
  const isFull = (): boolean => wasmMemory.buffer.byteLength > NEARLY * maximum * PAGE
  const variant = newVariant(release, { wasmBinary, wasmMemory })
  const vm = new QuickJsVm(await newQuickJSWASMModuleFromVariant(variant), options, {
    files,
    print,
    tick: flush,
    isFull,
    stop: (reason) => {
      flush()
      send({ type: 'stopped', reason })
    },
    call: (id, name, args) => send({ type: 'call', id, name, args }),
  })
  port.on('message', async (message: ToVm) => {
    if (message.type === 'answer') {
      vm.settle(message.id, message.isGood, message.json)
      return
    }
    pieces = 0
    files.begin(message.files)
    send({ type: 'started' })
    const outcome = await vm.run(message.code, message.tools)
    flush()
    send({ type: 'done', outcome, files: files.written, isFull: isFull() })
  })
  send({ type: 'ready' })
}

void start() // a rejection is an error of the thread, which its parent reports
