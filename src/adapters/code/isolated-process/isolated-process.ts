import { anything, checkOptions, type OptionRules, oneOf, record } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { CodeExecutor, CodeRequest, CodeResult } from '../../../engine/tool/code-executor.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import {
  type CodeExecutorOptions,
  EXECUTOR_RULES,
  type ExecutorLimits,
  readExecutorLimits,
} from '../executor-options.ts'
import { decodeInputFiles } from '../files/input-files.ts'
import { OutputFiles } from '../files/output-files.ts'
import {
  type Interpreter,
  type Languages,
  matchLanguage,
  resolveInterpreters,
  unknownLanguageResult,
} from '../languages/languages.ts'
import { processInstruction } from '../languages/process-instruction.ts'
import { PrintedOutput } from '../output/printed-output.ts'
import { toCodeResult } from '../process/code-result.ts'
import { isLinux, isWithin, realPath } from '../process/machine.ts'
import { findInterpreter, type InstalledInterpreter } from './find-interpreter.ts'
import { findIsolation } from './find-isolation.ts'
import type { Isolation, IsolationName } from './isolation.ts'
import { RESOURCE_RULES, type ResourceLimits, readResourceLimits, type SandboxResources } from './resource-limits.ts'
import { runInSandbox, type SandboxRun } from './run-in-sandbox.ts'

/** Options of `isolatedProcess()`. */
export interface IsolatedProcessOptions extends CodeExecutorOptions, ResourceLimits {
  /** The languages to run, for example `['python']` or `{ ruby: ['ruby', '{file}'] }`. Required. */
  readonly languages: Languages
  /**
   * Absolute paths that the code can read, with everything in them. Default: none. The system folders (`/usr`, `/bin`,
   * `/lib`) and the folder of the interpreter are always shown.
   */
  readonly readOnlyPaths?: readonly string[] | undefined
  /** Environment variables for the code, added to `PATH`, `HOME`, `TMPDIR`, `LANG` and Python's. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** The program that isolates the code. Default: the first that works; bubblewrap is tried first, for root `unshare`. */
  readonly isolation?: IsolationName | undefined
}

const RULES: OptionRules<IsolatedProcessOptions> = {
  ...EXECUTOR_RULES,
  ...RESOURCE_RULES,
  languages: anything,
  readOnlyPaths: anything,
  env: record,
  isolation: oneOf('bubblewrap', 'unshare'),
}

/**
 * Runs code of any language in an isolated process: no network, no other process to see, no file of the machine to write
 * and few to read, and limits on memory, CPU time, processes and files. Linux only. If the machine cannot isolate the
 * code, `execute` throws and nothing runs.
 *
 * @example
 * const agent = new LlmAgent({
 *   name: 'analyst',
 *   model: 'gemini-2.5-flash',
 *   codeExecutor: isolatedProcess({ languages: ['python'], timeoutMs: 10_000 }),
 * })
 */
export function isolatedProcess(options: IsolatedProcessOptions): CodeExecutor {
  return new IsolatedProcess(options)
}

class IsolatedProcess implements CodeExecutor {
  readonly languages: readonly string[]
  readonly callsTools: boolean
  readonly instruction: string
  readonly requiresConfirmation: Tool['requiresConfirmation']
  readonly #interpreters: ReadonlyMap<string, Interpreter>
  readonly #limits: ExecutorLimits
  readonly #resources: SandboxResources
  readonly #readOnlyPaths: readonly string[]
  readonly #env: Readonly<Record<string, string>>
  readonly #onlyIsolation: IsolationName | undefined
  readonly #installed = new Map<string, Promise<InstalledInterpreter>>()
  #isolation: Promise<Isolation> | undefined

  constructor(options: IsolatedProcessOptions) {
    if (!isLinux)
      throw new ToolwrightError('INVALID_CONFIG', 'isolatedProcess() needs Linux. Use quickjs() or docker().')
    checkOptions('isolatedProcess()', options, RULES)
    this.#interpreters = resolveInterpreters(options.languages)
    this.#limits = readExecutorLimits(options)
    this.requiresConfirmation = options.requiresConfirmation
    this.#resources = readResourceLimits(options, this.#limits.timeoutMs)
    this.#readOnlyPaths = (options.readOnlyPaths ?? []).map(checkReadOnlyPath)
    this.#env = { ...options.env }
    this.#onlyIsolation = options.isolation
    this.languages = [...this.#interpreters.keys()]
    this.callsTools = [...this.#interpreters.values()].some(({ toolClient }) => toolClient !== undefined)
    this.instruction = processInstruction(this.#interpreters, false)
  }

  async execute(request: CodeRequest): Promise<CodeResult> {
    const language = matchLanguage(request.language, this.languages)
    if (language === undefined) return unknownLanguageResult(request.language, this.languages)
    const inputFiles = decodeInputFiles(request.files)
    const interpreter = await this.#findInterpreter(language)
    this.#isolation ??= this.#findIsolation()
    const isolation = await this.#isolation
    return this.#run({ isolation, interpreter, request, inputFiles, readOnlyPaths: this.#readOnlyPaths })
  }

  async #run(
    run: Pick<SandboxRun, 'isolation' | 'interpreter' | 'request' | 'inputFiles' | 'readOnlyPaths'>,
  ): Promise<CodeResult> {
    const [limits, resources, env] = [this.#limits, this.#resources, this.#env]
    const output = new PrintedOutput(limits.maxOutputBytes)
    const outputFiles = new OutputFiles(limits, run.inputFiles)
    const end = await runInSandbox({ ...run, limits, resources, env, output, outputFiles })
    return toCodeResult(end, limits, output, outputFiles)
  }

  #findInterpreter(language: string): Promise<InstalledInterpreter> {
    const known = this.#installed.get(language)
    if (known) return known
    const found = findInterpreter(this.#interpreters.get(language) as Interpreter, this.#readOnlyPaths)
    found.catch(() => this.#installed.delete(language)) // it may be installed before the next run
    this.#installed.set(language, found)
    return found
  }

  #findIsolation(): Promise<Isolation> {
    const found = findIsolation(this.#onlyIsolation, async (isolation) => {
      const request: CodeRequest = { code: '', language: '', sessionKey: '', signal: new AbortController().signal }
      const interpreter = { command: ['true'], file: 'main', paths: [] }
      const trial = { isolation, interpreter, request, inputFiles: new Map(), readOnlyPaths: [] }
      const { outcome, output } = await this.#run(trial)
      return outcome === 'OK' ? undefined : output
    })
    found.catch(() => {
      this.#isolation = undefined // the missing program may be installed before the next run
    })
    return found
  }
}

function checkReadOnlyPath(path: string): string {
  const real = path.startsWith('/') ? realPath(path) : undefined
  if (real !== undefined && real !== '/' && !['/proc', '/sys', '/dev'].some((own) => isWithin(real, own))) return path
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `readOnlyPaths: "${path}" must be an absolute path that exists, and not /, /proc, /sys or /dev.`,
  )
}
