import { anything, checkOptions, type OptionRules, oneOf, record } from '../../error/check-options.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { CodeExecutor, CodeRequest, CodeResult } from '../../tool/code-executor.ts'
import type { Tool } from '../../tool/tool.ts'
import { type CodeExecutorOptions, EXECUTOR_RULES, type Limits, limitsOf } from '../executor-options.ts'
import { inputFiles } from '../files/input-files.ts'
import { OutputFiles } from '../files/output-files.ts'
import { type Languages, languageOf, type Program, programsOf, unknownLanguage } from '../languages/languages.ts'
import { processInstruction } from '../languages/process-instruction.ts'
import { Output } from '../output/printed-output.ts'
import { verdict } from '../process/code-result.ts'
import { isLinux, isWithin, realPath } from '../process/machine.ts'
import { findInterpreter, type Interpreter } from './find-interpreter.ts'
import { findIsolation } from './find-isolation.ts'
import type { Isolation, IsolationName } from './isolation.ts'
import { RESOURCE_RULES, type ResourceLimits, type Resources, resourcesOf } from './resource-limits.ts'
import { runInSandbox } from './run-in-sandbox.ts'

export interface IsolatedProcessOptions extends CodeExecutorOptions, ResourceLimits {
  readonly languages: Languages
  /** Shown to the code besides the system's folders and what its interpreter was installed with: all that is in them. */
  readonly readOnlyPaths?: readonly string[] | undefined
  /** Added to the few variables code finds in its environment. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Default: what works here; bubblewrap is tried first, for root `unshare`. */
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
 * Any interpreter in a process with nothing to harm: no network, no file of the machine to write and few to read, no
 * other process to see, and limits on what it can use up. Linux only.
 *
 * @example
 * const codeExecutor = isolatedProcess({ languages: ['python'] })
 */
export function isolatedProcess(options: IsolatedProcessOptions): CodeExecutor {
  return new IsolatedProcess(options)
}

class IsolatedProcess implements CodeExecutor {
  readonly languages: readonly string[]
  readonly callsTools: boolean
  readonly instruction: string
  readonly requiresConfirmation: Tool['requiresConfirmation']
  readonly #programs: ReadonlyMap<string, Program>
  readonly #limits: Limits
  readonly #resources: Resources
  readonly #paths: readonly string[]
  readonly #env: Readonly<Record<string, string>>
  readonly #only: IsolationName | undefined
  readonly #interpreters = new Map<string, Promise<Interpreter>>()
  #isolation: Promise<Isolation> | undefined

  constructor(options: IsolatedProcessOptions) {
    if (!isLinux)
      throw new ToolwrightError('INVALID_CONFIG', 'isolatedProcess() needs Linux. Use quickjs() or docker().')
    checkOptions('isolatedProcess()', options, RULES)
    this.#programs = programsOf(options.languages)
    this.#limits = limitsOf(options)
    this.requiresConfirmation = options.requiresConfirmation
    this.#resources = resourcesOf(options, this.#limits.timeoutMs)
    this.#paths = (options.readOnlyPaths ?? []).map(checkPath)
    this.#env = { ...options.env }
    this.#only = options.isolation
    this.languages = [...this.#programs.keys()]
    this.callsTools = [...this.#programs.values()].some(({ tools }) => tools !== undefined)
    this.instruction = processInstruction(this.#programs, false)
  }

  async execute(request: CodeRequest): Promise<CodeResult> {
    const language = languageOf(request.language, this.languages)
    if (language === undefined) return unknownLanguage(request.language, this.languages)
    const given = inputFiles(request.files)
    const interpreter = await this.#interpreter(language)
    this.#isolation ??= this.#findIsolation()
    return this.#run(await this.#isolation, interpreter, request, given, this.#paths)
  }

  async #run(
    isolation: Isolation,
    interpreter: Interpreter,
    request: CodeRequest,
    given: ReadonlyMap<string, Uint8Array>,
    paths: readonly string[],
  ): Promise<CodeResult> {
    const output = new Output(this.#limits.maxOutputBytes)
    const files = new OutputFiles(this.#limits, given)
    const [limits, resources, env] = [this.#limits, this.#resources, this.#env]
    const end = await runInSandbox({
      isolation,
      interpreter,
      request,
      given,
      limits,
      resources,
      paths,
      env,
      output,
      files,
    })
    return verdict(end, limits, output, files)
  }

  #interpreter(language: string): Promise<Interpreter> {
    const known = this.#interpreters.get(language)
    if (known) return known
    const found = findInterpreter(this.#programs.get(language) as Program, this.#paths)
    found.catch(() => this.#interpreters.delete(language))
    this.#interpreters.set(language, found)
    return found
  }

  #findIsolation(): Promise<Isolation> {
    const found = findIsolation(this.#only, async (isolation) => {
      const nothing: CodeRequest = { code: '', language: '', sessionKey: '', signal: new AbortController().signal }
      const trial = { command: ['true'], file: 'main', paths: [] }
      const { outcome, output } = await this.#run(isolation, trial, nothing, new Map(), [])
      return outcome === 'OK' ? undefined : output
    })
    found.catch(() => {
      this.#isolation = undefined // what was missing may be there before the next run
    })
    return found
  }
}

function checkPath(path: string): string {
  const real = path.startsWith('/') ? realPath(path) : undefined
  if (real !== undefined && real !== '/' && !['/proc', '/sys', '/dev'].some((own) => isWithin(real, own))) return path
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `readOnlyPaths: "${path}" must be an absolute path that exists, and not /, /proc, /sys or /dev.`,
  )
}
