import { type Ports, systemPorts } from '../../../core/base/ports.ts'
import { anything, checkOptions, flag, type OptionRules, record } from '../../../core/error/check-options.ts'
import { PORT_RULES } from '../../../core/error/port-rules.ts'
import type { CodeExecutor, CodeRequest, CodeResult } from '../../../engine/tool/code-executor.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import {
  type CodeExecutorOptions,
  EXECUTOR_RULES,
  type ExecutorLimits,
  MAX_TIMER_MS,
  readExecutorLimits,
  readPositiveInteger,
} from '../executor-options.ts'
import { decodeInputFiles } from '../files/input-files.ts'
import { OutputFiles } from '../files/output-files.ts'
import { matchLanguage, unknownLanguageResult } from '../languages/languages.ts'
import { FLOOD_FACTOR, PrintedOutput } from '../output/printed-output.ts'
import { runInThread } from './run-in-thread.ts'
import { SessionThreads } from './session-threads.ts'
import type { VmWorkerData } from './thread-messages.ts'
import { startVmThread, type VmThread } from './vm-thread.ts'

/** Options of `quickjs()`. */
export interface QuickJsOptions extends CodeExecutorOptions {
  /** Memory of the JavaScript engine in bytes, at most 2 000 000 000. Default 64 000 000. */
  readonly memoryBytes?: number | undefined
  /** Call stack of the JavaScript engine in bytes, at most 1 000 000. Default 512 000. */
  readonly stackBytes?: number | undefined
  /** Keeps global variables and files from one run of a session to the next. Default `false`: every run starts fresh. */
  readonly stateful?: boolean | undefined
  /** With `stateful`: how many idle sessions keep their variables. The longest idle is dropped first. Default 16. */
  readonly maxSessions?: number | undefined
  /** With `stateful`: how long an idle session keeps its variables, in milliseconds. Default 600 000 (ten minutes). */
  readonly idleMs?: number | undefined
  /** The timer for `idleMs`; tests pass their own. Default: the timers of the system. */
  readonly ports?: Pick<Ports, 'setTimer'> | undefined
}

const RULES: OptionRules<QuickJsOptions> = {
  ...EXECUTOR_RULES,
  memoryBytes: anything,
  stackBytes: anything,
  stateful: flag,
  maxSessions: anything,
  idleMs: anything,
  ports: record,
}

/**
 * Runs JavaScript in QuickJS, a separate engine compiled to WebAssembly, in its own thread. The code has no file system, no
 * network, no processes and no Node.js API. The engine is part of this package: nothing else needs to be installed.
 *
 * @example
 * const agent = new LlmAgent({
 *   name: 'analyst',
 *   model: 'gemini-2.5-flash',
 *   codeExecutor: quickjs({ timeoutMs: 5_000, stateful: true }),
 * })
 */
export function quickjs(options: QuickJsOptions = {}): CodeExecutor {
  return new QuickJs(options)
}

/** A 32-bit engine cannot use more. */
const MAX_MEMORY_BYTES = 2_000_000_000
/** Smaller than the stack of the thread, so that QuickJS reports the overflow. */
const MAX_STACK_BYTES = 1_000_000

class QuickJs implements CodeExecutor {
  readonly languages: readonly string[] = ['javascript']
  readonly stateful: boolean
  readonly callsTools = true
  readonly instruction: string
  readonly requiresConfirmation: Tool['requiresConfirmation']
  readonly #limits: ExecutorLimits
  readonly #workerData: VmWorkerData
  readonly #sessions: SessionThreads

  constructor(options: QuickJsOptions) {
    checkOptions('quickjs()', options, RULES)
    checkOptions('quickjs(), ports', options.ports ?? {}, PORT_RULES)
    const { setTimer } = options.ports ?? systemPorts
    this.stateful = options.stateful ?? false
    this.instruction = instructionFor(this.stateful)
    this.#limits = readExecutorLimits(options)
    this.requiresConfirmation = options.requiresConfirmation
    const { maxFiles, maxFileBytes, maxOutputBytes, timeoutMs } = this.#limits
    this.#workerData = {
      memoryBytes: readPositiveInteger('memoryBytes', options.memoryBytes, 64_000_000, MAX_MEMORY_BYTES),
      stackBytes: readPositiveInteger('stackBytes', options.stackBytes, 512_000, MAX_STACK_BYTES),
      timeoutMs,
      maxFiles,
      maxFileBytes,
      maxPrintedChars: FLOOD_FACTOR * maxOutputBytes,
    }
    this.#sessions = new SessionThreads({
      maxSessions: readPositiveInteger('maxSessions', options.maxSessions, 16),
      idleMs: readPositiveInteger('idleMs', options.idleMs, 600_000, MAX_TIMER_MS),
      setTimer,
      startThread: () => startVmThread(this.#workerData),
    })
  }

  async execute(request: CodeRequest): Promise<CodeResult> {
    const language = matchLanguage(request.language, this.languages)
    if (language === undefined) return unknownLanguageResult(request.language, this.languages)
    request.signal.throwIfAborted()
    const inputFiles = decodeInputFiles(request.files)
    const output = new PrintedOutput(this.#limits.maxOutputBytes)
    const outputFiles = new OutputFiles(this.#limits, inputFiles)
    const run = (thread: VmThread) =>
      runInThread({ thread, request, inputFiles, limits: this.#limits, output, outputFiles })
    const { outcome, isReusable } = await (this.stateful
      ? this.#sessions.run(request.sessionKey, run)
      : runOnce(this.#workerData, run))
    if (this.stateful && !isReusable) output.addNote('the variables of this session are lost')
    if (outputFiles.skippedNote) output.addNote(outputFiles.skippedNote)
    return { outcome, output: output.toString(), ...(outputFiles.saved.length > 0 && { files: outputFiles.saved }) }
  }

  shutdown(): Promise<void> {
    return this.#sessions.shutdown()
  }
}

async function runOnce<T>(data: VmWorkerData, run: (thread: VmThread) => Promise<T>): Promise<T> {
  const thread = startVmThread(data)
  try {
    return await run(thread)
  } finally {
    await thread.terminate()
  }
}

function instructionFor(isStateful: boolean): string {
  return [
    'JavaScript runs in a plain engine: no modules, no fetch, no Node. You see what console.log prints and the value of the last expression. await works everywhere.',
    'listFiles() returns the names of your files, readFile(name) and readBytes(name) read one, and writeFile(name, textOrBytes) saves one.',
    '`await tools.name({ key: value })` calls a tool.',
    isStateful ? 'Variables stay for the next run: assign to them again instead of declaring them again.' : '',
  ]
    .filter(Boolean)
    .join(' ')
}
