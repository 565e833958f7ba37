import { newId } from '../../base/new-id.ts'
import { anything, checkOptions, type OptionRules, record, text } from '../../error/check-options.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { CodeExecutor, CodeRequest, CodeResult } from '../../tool/code-executor.ts'
import type { Tool } from '../../tool/tool.ts'
import { type CodeExecutorOptions, EXECUTOR_RULES, type Limits, limitsOf, positive } from '../executor-options.ts'
import { inputFiles } from '../files/input-files.ts'
import { OutputFiles } from '../files/output-files.ts'
import { TarReader } from '../files/tar.ts'
import { type Languages, languageOf, type Program, programsOf, unknownLanguage } from '../languages/languages.ts'
import { packProgram } from '../languages/pack-program.ts'
import { processInstruction } from '../languages/process-instruction.ts'
import { MarkedStream } from '../output/marked-stream.ts'
import { Output } from '../output/printed-output.ts'
import { ask, type Running, start } from '../process/child-process.ts'
import { codeEnvironment } from '../process/code-environment.ts'
import { verdict } from '../process/code-result.ts'
import { environment, findProgram } from '../process/machine.ts'
import { packSandbox, RUN_FOLDER, WORK_FOLDER } from '../process/pack-sandbox.ts'
import { followRun } from '../process/supervise-run.ts'
import { dockerCommand } from './docker-command.ts'

export interface DockerOptions extends CodeExecutorOptions {
  /** Pulled before: a run never waits for a download. It needs `sh`, `tar`, `find`, `timeout` and the interpreters. */
  readonly image: string
  readonly languages: Languages
  /** The program that speaks to the engine. Default `docker`; `podman` takes the same words. */
  readonly program?: string | undefined
  /** Of the container; it gets no swap. Default 256 000 000. */
  readonly memoryBytes?: number | undefined
  /** Default 1. */
  readonly cpus?: number | undefined
  /** Processes and threads. Default 128. */
  readonly processes?: number | undefined
  /** All that is written. Default 64 000 000. */
  readonly diskBytes?: number | undefined
  /** Default 10 000. */
  readonly diskFiles?: number | undefined
  /** Added to the few variables code finds in its environment. */
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
 * Any interpreter in a container that is made for one run: no network, nothing of the host mounted, read-only but for
 * one small folder, no privileges, hard limits by the engine.
 *
 * @example
 * const codeExecutor = docker({ image: 'python:3.13-slim', languages: ['python'] })
 */
export function docker(options: DockerOptions): CodeExecutor {
  return new Docker(options)
}

class Docker implements CodeExecutor {
  readonly languages: readonly string[]
  readonly instruction: string = processInstruction(new Map(), false)
  readonly requiresConfirmation: Tool['requiresConfirmation']
  readonly #options: DockerOptions
  readonly #programs: ReadonlyMap<string, Program>
  readonly #limits: Limits
  readonly #resources: { memoryBytes: number; cpus: number; processes: number; diskBytes: number; diskFiles: number }

  constructor(options: DockerOptions) {
    checkOptions('docker()', options, RULES)
    if (!/^[\w][\w./:@-]*$/.test(options.image)) {
      throw new ToolwrightError('INVALID_CONFIG', `"${options.image}" is no name of an image, as python:3.13-slim is.`)
    }
    const { cpus = 1 } = options
    if (!(cpus > 0 && cpus <= 1024)) throw new ToolwrightError('INVALID_CONFIG', `cpus must be above 0, not ${cpus}.`)
    this.#options = options
    this.#programs = programsOf(options.languages)
    this.#limits = limitsOf(options)
    this.requiresConfirmation = options.requiresConfirmation
    this.#resources = {
      memoryBytes: positive('memoryBytes', options.memoryBytes, 256_000_000),
      cpus,
      processes: positive('processes', options.processes, 128),
      diskBytes: positive('diskBytes', options.diskBytes, 64_000_000),
      diskFiles: positive('diskFiles', options.diskFiles, 10_000),
    }
    this.languages = [...this.#programs.keys()]
  }

  async execute(request: CodeRequest): Promise<CodeResult> {
    const language = languageOf(request.language, this.languages)
    if (language === undefined) return unknownLanguage(request.language, this.languages)
    const given = inputFiles(request.files)
    const pack = { code: request.code, usesTools: false, folder: RUN_FOLDER }
    const program = packProgram(this.#programs.get(language) as Program, pack)
    const input = packSandbox(program, given, this.#resources)
    const output = new Output(this.#limits.maxOutputBytes)
    const files = new OutputFiles(this.#limits, given)
    const archive = new TarReader(files)
    const mark = `toolwright-${newId()}`
    const container = new Container(this.#options.program ?? 'docker', `toolwright-${newId()}`)
    let sent: MarkedStream | undefined
    const end = await followRun({
      request,
      limits: this.#limits,
      output,
      usesTools: false,
      start: ({ listen, stop }) => {
        const readFiles = (chunk: Uint8Array): void => {
          archive.push(chunk)
          if (archive.bytes > 2 * this.#resources.diskBytes) stop('its files are larger than they may be')
        }
        sent = new MarkedStream([mark, mark], [() => {}, listen.get(1) ?? (() => {}), readFiles])
        const args = dockerCommand({
          ...this.#resources,
          name: container.name,
          image: this.#options.image,
          timeoutMs: this.#limits.timeoutMs,
          env: { ...codeEnvironment(WORK_FOLDER, '/tmp'), ...this.#options.env },
          mark,
          stdin: program.stdin,
          command: program.command,
        })
        return container.start(args, input, new Map([...listen, [1, (chunk: Uint8Array) => sent?.push(chunk)]]))
      },
    })
    sent?.end()
    if (!sent?.found && !('stopped' in end)) {
      const { program: engine = 'docker', image } = this.#options
      const silent = `${engine} ended with exit code ${end.code ?? 'unknown'} and printed nothing. Try: ${engine} run --rm ${image} true`
      throw new ToolwrightError('INTERNAL', `The container could not be started: ${output.toString() || silent}`)
    }
    return verdict(end, this.#limits, output, files)
  }
}

/** A container that is ended by its name: ending the program that started it leaves it running. */
class Container {
  readonly name: string
  readonly #program: string
  #ending: Promise<unknown> | undefined

  constructor(program: string, name: string) {
    const found = findProgram(program)
    if (found === undefined) {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `"${program}" was not found: install Docker, or use isolatedProcess().`,
      )
    }
    this.#program = found
    this.name = name
  }

  async start(args: string[], input: Uint8Array, listen: Map<number, (chunk: Uint8Array) => void>): Promise<Running> {
    const running = await start({
      command: [this.#program, ...args],
      env: environment(),
      input,
      listen,
      mayLeave: true,
    })
    return {
      ...running,
      stop: () => {
        running.stop()
        this.#ending ??= ask([this.#program, 'rm', '--force', this.name], environment()).catch(() => {})
      },
      ended: running.ended.then(async (exit) => {
        await this.#ending
        return exit
      }),
    }
  }
}
