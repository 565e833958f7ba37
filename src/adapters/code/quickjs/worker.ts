// The program of the thread that a QuickJS virtual machine runs in. The host can terminate the thread at any time.
import { parentPort, workerData } from 'node:worker_threads'
import releaseSync from '@jitl/quickjs-wasmfile-release-sync'
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSSyncVariant } from 'quickjs-emscripten-core'
import type { MessageFromVm, MessageToVm, VmWorkerData } from './thread-messages.ts'
import { QuickJsVm } from './vm.ts'
import { VmFiles } from './vm-files.ts'
import { wasmBinary } from './wasm-binary.ts'

/** The first prints of a run are sent at once, so that they are not lost with the thread. Later ones are sent in chunks. */
const PRINTS_SENT_AT_ONCE = 1000
const PRINT_CHUNK_CHARS = 4096

/** Memory the engine starts with, and what it needs for its own stack and tables. */
const PAGE_BYTES = 65_536
const INITIAL_PAGES = 256
const ENGINE_BYTES = 6_000_000

/** Memory counts as full above this share of the maximum: it grows in steps, and the last step may not fit. */
const FULL_SHARE = 0.95

const pagesFor = (bytes: number): number => Math.max(INITIAL_PAGES + 16, Math.ceil((ENGINE_BYTES + bytes) / PAGE_BYTES))

// The types of the package describe its CommonJS file; an import gets the variant itself.
const release = releaseSync as unknown as QuickJSSyncVariant

const port = parentPort as NonNullable<typeof parentPort> // a worker thread has one
const options: VmWorkerData = workerData
const files = new VmFiles(options.maxFiles, options.maxFileBytes)
const unsent = { out: '', err: '' }
let prints = 0

const send = (message: MessageFromVm): void => port.postMessage(message)

function flushPrinted(): void {
  for (const stream of ['out', 'err'] as const) {
    if (unsent[stream] !== '') send({ type: 'print', stream, text: unsent[stream] })
    unsent[stream] = ''
  }
}

function print(stream: 'out' | 'err', text: string): void {
  unsent[stream] += text
  if (++prints < PRINTS_SENT_AT_ONCE || unsent[stream].length > PRINT_CHUNK_CHARS) flushPrinted()
}

async function start(): Promise<void> {
  // Threat: code allocates without end. In WebAssembly QuickJS cannot measure what it allocated, so its own limit is not
  // enough. Step: the WebAssembly memory itself has a maximum. Test: quickjs-limits.test.ts.
  const maximum = pagesFor(options.memoryBytes)
  const wasmMemory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum })
  const isMemoryFull = (): boolean => wasmMemory.buffer.byteLength > FULL_SHARE * maximum * PAGE_BYTES
  const variant = newVariant(release, { wasmBinary, wasmMemory })
  const vm = new QuickJsVm(await newQuickJSWASMModuleFromVariant(variant), options, {
    files,
    print,
    onInterrupt: flushPrinted,
    isMemoryFull,
    stop: (reason) => {
      flushPrinted()
      send({ type: 'stopped', reason })
    },
    callTool: (id, name, args) => send({ type: 'tool-call', id, name, args }),
  })
  port.on('message', async (message: MessageToVm) => {
    if (message.type === 'tool-result') {
      vm.settle(message.id, message.isSuccess, message.json)
      return
    }
    prints = 0
    files.startRun(message.files)
    send({ type: 'started' })
    const outcome = await vm.run(message.code, message.tools)
    flushPrinted()
    send({ type: 'done', outcome, files: files.writtenInRun, isMemoryFull: isMemoryFull() })
  })
  send({ type: 'ready' })
}

void start() // a rejection becomes an error of the thread, which the host reports
