import { type Ports, systemPorts } from '../../base/ports.ts'
import { anything, checkOptions, flag, type OptionRules, record } from '../../error/check-options.ts'
import { PORT_RULES } from '../../error/port-rules.ts'
import type { CodeExecutor, CodeRequest, CodeResult } from '../../tool/code-executor.ts'
import type { Tool } from '../../tool/tool.ts'
import {
  type CodeExecutorOptions,
  EXECUTOR_RULES,
  type Limits,
  limitsOf,
  MOST_MS,
  positive,
} from '../executor-options.ts'
import { inputFiles } from '../files/input-files.ts'
import { OutputFiles } from '../files/output-files.ts'
import { languageOf, unknownLanguage } from '../languages/languages.ts'
import { FLOOD, Output } from '../output/printed-output.ts'
import { runInThread } from './run-in-thread.ts'
import { VmSessions } from './session-threads.ts'
import type { VmWorkerData } from './thread-messages.ts'
import { startThread, type VmThread } from './vm-thread.ts'

export interface QuickJsOptions extends CodeExecutorOptions {
  /** Default 64 000 000. */
  readonly memoryBytes?: number | undefined
  /** Default 512 000. */
  readonly stackBytes?: number | undefined
  /** Variables live on from run to run of one session. Default: every run starts afresh. */
  readonly stateful?: boolean | undefined
  /** Sessions kept while they are not used. Default 16. */
  readonly maxSessions?: number | undefined
  /** How long an unused session is kept. Default ten minutes. */
  readonly idleMs?: number | undefined
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
 * JavaScript in QuickJS, an engine of its own in WebAssembly, in a thread of its own: no file, no network, no process,
 * no clock but the time. The engine is part of this package: nothing needs to be installed.
 *
 * @example
 * const codeExecutor = quickjs()
 */
export function quickjs(options: QuickJsOptions = {}): CodeExecutor {
  return new QuickJs(options)
}

/** What an engine of 32 bits can have; and a stack that is smaller than its thread's own. */
const MOST_BYTES = 2_000_000_000
const MOST_STACK = 1_000_000

class QuickJs implements CodeExecutor {
  readonly languages: readonly string[] = ['javascript']
  readonly stateful: boolean
  readonly callsTools = true
  readonly instruction: string
  readonly requiresConfirmation: Tool['requiresConfirmation']
  readonly #limits: Limits
  readonly #data: VmWorkerData
  readonly #sessions: VmSessions

  constructor(options: QuickJsOptions) {
    checkOptions('quickjs()', options, RULES)
    checkOptions('quickjs(), ports', options.ports ?? {}, PORT_RULES)
    const { setTimer } = options.ports ?? systemPorts
    this.stateful = options.stateful ?? false
    this.instruction = instructionFor(this.stateful)
    this.#limits = limitsOf(options)
    this.requiresConfirmation = options.requiresConfirmation
    const { maxFiles, maxFileBytes, maxOutputBytes, timeoutMs } = this.#limits
    this.#data = {
      memoryBytes: positive('memoryBytes', options.memoryBytes, 64_000_000, MOST_BYTES),
      stackBytes: positive('stackBytes', options.stackBytes, 512_000, MOST_STACK),
      timeoutMs,
      maxFiles,
      maxFileBytes,
      maxPrinted: FLOOD * maxOutputBytes,
    }
    this.#sessions = new VmSessions({
      maxSessions: positive('maxSessions', options.maxSessions, 16),
      idleMs: positive('idleMs', options.idleMs, 600_000, MOST_MS),
      setTimer,
      start: () => startThread(this.#data),
    })
  }

  async execute(request: CodeRequest): Promise<CodeResult> {
    const language = languageOf(request.language, this.languages)
    if (language === undefined) return unknownLanguage(request.language, this.languages)
    request.signal.throwIfAborted()
    const given = inputFiles(request.files)
    const output = new Output(this.#limits.maxOutputBytes)
    const files = new OutputFiles(this.#limits, given)
    const run = (thread: VmThread) => runInThread({ thread, request, given, limits: this.#limits, output, files })
    const { outcome, isGood } = await (this.stateful
      ? this.#sessions.use(request.sessionKey, run)
      : runOnce(this.#data, run))
    if (this.stateful && !isGood) output.note('the variables of this session are lost')
    if (files.note) output.note(files.note)
    return { outcome, output: output.toString(), ...(files.list.length > 0 && { files: files.list }) }
  }

  shutdown(): Promise<void> {
    return this.#sessions.shutdown()
  }
}

async function runOnce<T>(data: VmWorkerData, run: (thread: VmThread) => Promise<T>): Promise<T> {
  const thread = startThread(data)
  try {
    return await run(thread)
  } finally {
    await thread.end()
  }
}

function instructionFor(isStateful: boolean): string {
  return [
    'JavaScript runs in a plain engine: no modules, no fetch, no Node. You are shown what console.log prints and the value of the last expression; await works everywhere.',
    'readFile(name) and readBytes(name) read the files listFiles() names, and writeFile(name, textOrBytes) keeps one.',
    '`await tools.name({ key: value })` calls a tool.',
    isStateful ? 'Variables stay for the next run: assign to them again instead of declaring them again.' : '',
  ]
    .filter(Boolean)
    .join(' ')
}
