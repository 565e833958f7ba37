import { anything, checkOptions, type OptionRules, objectWith, record } from '../../../core/error/check-options.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { Logger } from '../../../engine/dispatch/host.ts'
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
import { packProgram } from '../languages/pack-program.ts'
import { processInstruction } from '../languages/process-instruction.ts'
import { PrintedOutput } from '../output/printed-output.ts'
import { startProcess } from '../process/child-process.ts'
import { codeEnvironment } from '../process/code-environment.ts'
import { toCodeResult } from '../process/code-result.ts'
import { findProgram, hostEnvironment, isLinux } from '../process/machine.ts'
import { requireProgram } from '../process/require-program.ts'
import { superviseRun } from '../process/supervise-run.ts'
import { removeAbandonedFolders, TempFolder } from './temp-folder.ts'

/** Options of `unisolatedLocalProcess()`. */
export interface UnisolatedLocalProcessOptions extends CodeExecutorOptions {
  /** Must be `true`. Confirms that the code can read, change and send away everything this process can. */
  readonly iAcceptHostAccess: true
  /** The languages to run, for example `['python']` or `{ ruby: ['ruby', '{file}'] }`. Required. */
  readonly languages: Languages
  /** Environment variables for the code, added to `PATH`, `HOME`, `TMPDIR`, `LANG` and Python's. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Receives a warning for each run. Default `console`. */
  readonly logger?: Pick<Logger, 'warn'> | undefined
}

const RULES: OptionRules<UnisolatedLocalProcessOptions> = {
  ...EXECUTOR_RULES,
  iAcceptHostAccess: anything,
  languages: anything,
  env: record,
  logger: objectWith('warn'),
}

/**
 * Runs code as an ordinary process with all rights of this process. Use it only for code you would run without reading
 * it. The process has a deadline and limits on its output, but nothing prevents the code from doing harm. Prefer
 * `isolatedProcess()`, `docker()` or `quickjs()`.
 *
 * @example
 * const codeExecutor = unisolatedLocalProcess({ iAcceptHostAccess: true, languages: ['bash'] })
 */
export function unisolatedLocalProcess(options: UnisolatedLocalProcessOptions): CodeExecutor {
  return new UnisolatedLocalProcess(options)
}

class UnisolatedLocalProcess implements CodeExecutor {
  readonly languages: readonly string[]
  readonly callsTools: boolean
  readonly effect = 'atMostOnce'
  readonly instruction: string
  readonly requiresConfirmation: Tool['requiresConfirmation']
  readonly #options: UnisolatedLocalProcessOptions
  readonly #interpreters: ReadonlyMap<string, Interpreter>
  readonly #limits: ExecutorLimits
  #abandonedRemoved: Promise<void> | undefined

  constructor(options: UnisolatedLocalProcessOptions) {
    if (options.iAcceptHostAccess !== true) {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        'unisolatedLocalProcess() runs code with the rights of this process. Use isolatedProcess(), docker() or quickjs(), or set iAcceptHostAccess: true.',
      )
    }
    checkOptions('unisolatedLocalProcess()', options, RULES)
    this.#options = options
    this.#interpreters = resolveInterpreters(options.languages)
    this.#limits = readExecutorLimits(options)
    this.requiresConfirmation = options.requiresConfirmation
    this.languages = [...this.#interpreters.keys()]
    this.callsTools = [...this.#interpreters.values()].some(({ toolClient }) => toolClient !== undefined)
    this.instruction = processInstruction(this.#interpreters, true)
  }

  async execute(request: CodeRequest): Promise<CodeResult> {
    const language = matchLanguage(request.language, this.languages)
    if (language === undefined) return unknownLanguageResult(request.language, this.languages)
    const inputFiles = decodeInputFiles(request.files)
    request.signal.throwIfAborted()
    this.#abandonedRemoved ??= removeAbandonedFolders()
    await this.#abandonedRemoved
    const folder = await TempFolder.create()
    try {
      return await this.#run(this.#interpreters.get(language) as Interpreter, request, inputFiles, folder)
    } finally {
      await folder.remove().catch((error: unknown) => {
        this.#logger.warn(`The temporary folder of a code run could not be removed: ${messageOf(error)}`)
      })
    }
  }

  get #logger(): Pick<Logger, 'warn'> {
    return this.#options.logger ?? console
  }

  async #run(
    interpreter: Interpreter,
    request: CodeRequest,
    inputFiles: ReadonlyMap<string, Uint8Array>,
    folder: TempFolder,
  ): Promise<CodeResult> {
    const usesTools = interpreter.toolClient !== undefined && request.callTool !== undefined
    const pack = { code: request.code, usesTools, folder: folder.path('run') }
    const program = packProgram(withProgramPath(interpreter), pack)
    for (const { name, bytes } of program.files) await folder.write('run', name, bytes)
    for (const [name, bytes] of inputFiles) await folder.write('work', name, bytes)
    const output = new PrintedOutput(this.#limits.maxOutputBytes)
    const outputFiles = new OutputFiles(this.#limits, inputFiles)
    this.#logger.warn(`Running model-written code without isolation: ${program.command[0]}`)
    const end = await superviseRun({
      request,
      limits: this.#limits,
      output,
      usesTools,
      start: ({ outputHandlers, writableDescriptors }) =>
        startProcess({
          command: [...killWithHost(), ...program.command],
          env: {
            PATH: hostEnvironment().PATH ?? '',
            ...codeEnvironment(folder.path('work'), folder.path('temp')),
            ...this.#options.env,
          },
          cwd: folder.path('work'),
          input: program.stdin === undefined ? undefined : program.files[0]?.bytes,
          outputHandlers,
          writableDescriptors,
          mayLeaveProcesses: true,
        }),
    })
    await folder.collectFiles(outputFiles)
    return toCodeResult(end, this.#limits, output, outputFiles)
  }
}

/** On Linux, lets the kernel kill the program when this process is killed. Children of the program are not killed. */
function killWithHost(): string[] {
  const setpriv = isLinux ? findProgram('setpriv') : undefined
  return setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--']
}

function withProgramPath(interpreter: Interpreter): Interpreter {
  const [name = '', ...args] = interpreter.command
  return { ...interpreter, command: [requireProgram(name), ...args] }
}
