import type { Logger } from '../../dispatch/host.ts'
import { anything, checkOptions, type OptionRules, objectWith, record } from '../../error/check-options.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import type { CodeExecutor, CodeRequest, CodeResult } from '../../tool/code-executor.ts'
import type { Tool } from '../../tool/tool.ts'
import { type CodeExecutorOptions, EXECUTOR_RULES, type Limits, limitsOf } from '../executor-options.ts'
import { inputFiles } from '../files/input-files.ts'
import { OutputFiles } from '../files/output-files.ts'
import { type Languages, languageOf, type Program, programsOf, unknownLanguage } from '../languages/languages.ts'
import { packProgram } from '../languages/pack-program.ts'
import { processInstruction } from '../languages/process-instruction.ts'
import { Output } from '../output/printed-output.ts'
import { start } from '../process/child-process.ts'
import { codeEnvironment } from '../process/code-environment.ts'
import { verdict } from '../process/code-result.ts'
import { environment, findProgram, isLinux } from '../process/machine.ts'
import { followRun } from '../process/supervise-run.ts'
import { removeAbandonedFolders, TempFolder } from './temp-folder.ts'

export interface UnisolatedLocalProcessOptions extends CodeExecutorOptions {
  /** Code can read, change and send away whatever this process can. Say that you know. */
  readonly iAcceptHostAccess: true
  readonly languages: Languages
  /** Added to the few variables code finds in its environment. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Where each start is warned of. Default `console`. */
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
 * A plain process of this machine, with all its rights: for code you would run yourself without reading it. Has a
 * deadline and limits on what is taken out, and nothing that keeps code from doing harm.
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
  readonly #programs: ReadonlyMap<string, Program>
  readonly #limits: Limits
  #abandoned: Promise<void> | undefined

  constructor(options: UnisolatedLocalProcessOptions) {
    if (options.iAcceptHostAccess !== true) {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        'unisolatedLocalProcess() gives code the rights of this process. Use isolatedProcess(), docker() or quickjs(), or set iAcceptHostAccess: true.',
      )
    }
    checkOptions('unisolatedLocalProcess()', options, RULES)
    this.#options = options
    this.#programs = programsOf(options.languages)
    this.#limits = limitsOf(options)
    this.requiresConfirmation = options.requiresConfirmation
    this.languages = [...this.#programs.keys()]
    this.callsTools = [...this.#programs.values()].some(({ tools }) => tools !== undefined)
    this.instruction = processInstruction(this.#programs, true)
  }

  async execute(request: CodeRequest): Promise<CodeResult> {
    const language = languageOf(request.language, this.languages)
    if (language === undefined) return unknownLanguage(request.language, this.languages)
    const given = inputFiles(request.files)
    request.signal.throwIfAborted()
    this.#abandoned ??= removeAbandonedFolders()
    await this.#abandoned
    const folder = await TempFolder.make()
    try {
      return await this.#run(this.#programs.get(language) as Program, request, given, folder)
    } finally {
      await folder.remove().catch((error: unknown) => {
        this.#logger.warn(`The folder of a code run could not be removed: ${messageOf(error)}`)
      })
    }
  }

  get #logger(): Pick<Logger, 'warn'> {
    return this.#options.logger ?? console
  }

  async #run(
    program: Program,
    request: CodeRequest,
    given: ReadonlyMap<string, Uint8Array>,
    folder: TempFolder,
  ): Promise<CodeResult> {
    const usesTools = program.tools !== undefined && request.callTool !== undefined
    const packed = packProgram(found(program), { code: request.code, usesTools, folder: folder.path('run') })
    for (const { name, bytes } of packed.files) await folder.put('run', name, bytes)
    for (const [name, bytes] of given) await folder.put('work', name, bytes)
    const output = new Output(this.#limits.maxOutputBytes)
    const files = new OutputFiles(this.#limits, given)
    const { env } = this.#options
    this.#logger.warn(`Code of a model runs without isolation: ${packed.command[0]}`)
    const end = await followRun({
      request,
      limits: this.#limits,
      output,
      usesTools,
      start: ({ listen, speak }) =>
        start({
          command: [...dieWithHost(), ...packed.command],
          env: {
            PATH: environment().PATH ?? '',
            ...codeEnvironment(folder.path('work'), folder.path('temp')),
            ...env,
          },
          cwd: folder.path('work'),
          input: packed.stdin === undefined ? undefined : packed.files[0]?.bytes,
          listen,
          speak,
          mayLeave: true,
        }),
    })
    await folder.collect(files)
    return verdict(end, this.#limits, output, files)
  }
}

/** On Linux the kernel ends the program when this process is killed. What the program itself started is not ended. */
function dieWithHost(): string[] {
  const setpriv = isLinux ? findProgram('setpriv') : undefined
  return setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--']
}

function found(program: Program): Program {
  const [name = '', ...args] = program.command
  const path = name === 'node' ? process.execPath : findProgram(name)
  if (path !== undefined) return { ...program, command: [path, ...args] }
  throw new ToolwrightError('INVALID_CONFIG', `"${name}" was not found: install it, or give the path of the program.`)
}
