import { anything, checkOptions, type OptionRules, record, text } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { CodeExecutor, CodeRequest, CodeResult } from '../../../engine/tool/code-executor.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import {
  type CodeExecutorOptions,
  EXECUTOR_RULES,
  type ExecutorLimits,
  readExecutorLimits,
  readPositiveInteger,
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
import type { ContainerResources } from './docker-command.ts'
import { runInContainer } from './run-in-container.ts'

/** Options of `docker()`. */
export interface DockerOptions extends CodeExecutorOptions {
  /**
   * The image to run, for example `python:3.13-slim`. Required. Pull it beforehand: a run never downloads an image. The
   * image needs `sh`, `tar`, `find`, `timeout` and the interpreters.
   */
  readonly image: string
  /** The languages to run, for example `['python']` or `{ ruby: ['ruby', '{file}'] }`. Required. */
  readonly languages: Languages
  /** The command-line program of the engine. Default `docker`; `podman` accepts the same arguments. */
  readonly program?: string | undefined
  /** Memory of the container in bytes; the container gets no swap. Default 256 000 000. */
  readonly memoryBytes?: number | undefined
  /** Processors the container may use, for example `0.5`. Default 1. */
  readonly cpus?: number | undefined
  /** Processes and threads of the container. Default 128. */
  readonly processes?: number | undefined
  /** Bytes the code can write to files, which are kept in memory. Default 64 000 000. */
  readonly diskBytes?: number | undefined
  /** Files and folders the code can create. Default 10 000. */
  readonly diskFiles?: number | undefined
  /** Environment variables for the code, added to those of the image, `HOME`, `TMPDIR`, `LANG` and Python's. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined
}

const RULES: OptionRules<DockerOptions> = {
  ...EXECUTOR_RULES,
  image: text,
  languages: anything,
  program: text,
  memoryBytes: anything,
  cpus: anything,
  processes: anything,
  diskBytes: anything,
  diskFiles: anything,
  env: record,
}

/**
 * Runs code of any language in a container that exists for one run: no network, nothing of the host mounted, one small
 * writable folder, no privileges, and limits that the engine enforces. Code in a container cannot call tools.
 *
 * @example
 * const agent = new LlmAgent({
 *   name: 'analyst',
 *   model: 'gemini-2.5-flash',
 *   codeExecutor: docker({ image: 'python:3.13-slim', languages: ['python'] }),
 * })
 */
export function docker(options: DockerOptions): CodeExecutor {
  return new Docker(options)
}

class Docker implements CodeExecutor {
  readonly languages: readonly string[]
  readonly instruction: string = processInstruction(new Map(), false)
  readonly requiresConfirmation: Tool['requiresConfirmation']
  readonly #options: DockerOptions
  readonly #interpreters: ReadonlyMap<string, Interpreter>
  readonly #limits: ExecutorLimits
  readonly #resources: ContainerResources

  constructor(options: DockerOptions) {
    checkOptions('docker()', options, RULES)
    // The image is an argument of the engine's program: a name that begins with a dash would be an option.
    if (!/^[\w][\w./:@-]*$/.test(options.image)) {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `image "${options.image}" is not an image name. Use a name such as "python:3.13-slim".`,
      )
    }
    this.#options = options
    this.#interpreters = resolveInterpreters(options.languages)
    this.#limits = readExecutorLimits(options)
    this.requiresConfirmation = options.requiresConfirmation
    this.#resources = readContainerResources(options)
    this.languages = [...this.#interpreters.keys()]
  }

  async execute(request: CodeRequest): Promise<CodeResult> {
    const language = matchLanguage(request.language, this.languages)
    if (language === undefined) return unknownLanguageResult(request.language, this.languages)
    const [limits, { image, program = 'docker', env = {} }] = [this.#limits, this.#options]
    const inputFiles = decodeInputFiles(request.files)
    const output = new PrintedOutput(limits.maxOutputBytes)
    const outputFiles = new OutputFiles(limits, inputFiles)
    const end = await runInContainer({
      engine: program,
      image,
      interpreter: this.#interpreters.get(language) as Interpreter,
      request,
      inputFiles,
      limits,
      resources: this.#resources,
      env,
      output,
      outputFiles,
    })
    return toCodeResult(end, limits, output, outputFiles)
  }
}

function readContainerResources(options: DockerOptions): ContainerResources {
  const { cpus = 1 } = options
  if (!(cpus > 0 && cpus <= 1024)) {
    throw new ToolwrightError('INVALID_CONFIG', `cpus must be a number above 0 and at most 1024, got ${cpus}.`)
  }
  return {
    memoryBytes: readPositiveInteger('memoryBytes', options.memoryBytes, 256_000_000),
    cpus,
    processes: readPositiveInteger('processes', options.processes, 128),
    diskBytes: readPositiveInteger('diskBytes', options.diskBytes, 64_000_000),
    diskFiles: readPositiveInteger('diskFiles', options.diskFiles, 10_000),
  }
}
