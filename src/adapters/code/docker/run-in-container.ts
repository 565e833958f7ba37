import { newId } from '../../../core/base/new-id.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { CodeRequest } from '../../../engine/tool/code-executor.ts'
import type { ExecutorLimits } from '../executor-options.ts'
import type { OutputFiles } from '../files/output-files.ts'
import { TarReader } from '../files/tar.ts'
import type { Interpreter } from '../languages/languages.ts'
import { packProgram } from '../languages/pack-program.ts'
import { MarkedStream } from '../output/marked-stream.ts'
import type { PrintedOutput } from '../output/printed-output.ts'
import { codeEnvironment } from '../process/code-environment.ts'
import { packSandboxFiles, RUN_FOLDER, WORK_FOLDER } from '../process/pack-sandbox-files.ts'
import { filesTooLarge, type RunEnd, superviseRun } from '../process/supervise-run.ts'
import { Container } from './container.ts'
import { type ContainerResources, dockerCommand } from './docker-command.ts'

/** One run of code in a new container. */
interface ContainerRun {
  /** The command-line program of the engine. */
  readonly engine: string
  /** The image to run. */
  readonly image: string
  /** Runs the code. */
  readonly interpreter: Interpreter
  /** The code and its signal. */
  readonly request: CodeRequest
  /** Files to put into the working directory, by name. */
  readonly inputFiles: ReadonlyMap<string, Uint8Array>
  /** Deadline and output limits. */
  readonly limits: ExecutorLimits
  /** Limits that the engine enforces. */
  readonly resources: ContainerResources
  /** Environment variables to add. */
  readonly env: Readonly<Record<string, string>>
  /** Collects what the code prints. */
  readonly output: PrintedOutput
  /** Collects the files the code writes. */
  readonly outputFiles: OutputFiles
}

/** Runs code in a container that exists for this run only. Throws when the container cannot be started. */
export async function runInContainer(run: ContainerRun): Promise<RunEnd> {
  const { engine, image, request, limits, resources, output } = run
  const program = packProgram(run.interpreter, { code: request.code, usesTools: false, folder: RUN_FOLDER })
  const input = packSandboxFiles(program, run.inputFiles, resources)
  const archive = new TarReader(run.outputFiles)
  const mark = `toolwright-${newId()}` // random, so that the code does not print it by accident
  const container = new Container(engine, `toolwright-${newId()}`)
  let stdout: MarkedStream | undefined
  const end = await superviseRun({
    request,
    limits,
    output,
    usesTools: false,
    start: ({ outputHandlers, stop }) => {
      const readFiles = (chunk: Uint8Array): void => {
        archive.push(chunk)
        if (archive.bytesRead > 2 * resources.diskBytes) stop(filesTooLarge(resources))
      }
      stdout = new MarkedStream([mark, mark], [() => {}, outputHandlers.get(1) ?? (() => {}), readFiles])
      const args = dockerCommand({
        ...resources,
        name: container.name,
        image,
        timeoutMs: limits.timeoutMs,
        env: { ...codeEnvironment(WORK_FOLDER, '/tmp'), ...run.env },
        mark,
        stdin: program.stdin,
        command: program.command,
      })
      const readStdout = (chunk: Uint8Array): void => stdout?.push(chunk)
      return container.start(args, input, new Map([...outputHandlers, [1, readStdout]]))
    },
  })
  stdout?.end()
  if (stdout?.marksFound || 'stopped' in end) return end
  const silent = `${engine} ended with exit code ${end.code ?? 'unknown'} and printed nothing. Try: ${engine} run --rm ${image} true`
  throw new ToolwrightError('INTERNAL', `The container could not be started: ${output.toString() || silent}`)
}
