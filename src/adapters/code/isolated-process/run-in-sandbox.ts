import { ToolwrightError } from '../../../core/error/error.ts'
import type { CodeRequest } from '../../../engine/tool/code-executor.ts'
import type { ExecutorLimits } from '../executor-options.ts'
import type { OutputFiles } from '../files/output-files.ts'
import { TarReader } from '../files/tar.ts'
import { packProgram } from '../languages/pack-program.ts'
import { MarkedStream } from '../output/marked-stream.ts'
import type { PrintedOutput } from '../output/printed-output.ts'
import { startProcess } from '../process/child-process.ts'
import { codeEnvironment } from '../process/code-environment.ts'
import { countFiles } from '../process/machine.ts'
import { packSandboxFiles, RUN_FOLDER, WORK_FOLDER } from '../process/pack-sandbox-files.ts'
import { filesTooLarge, type RunEnd, superviseRun } from '../process/supervise-run.ts'
import type { InstalledInterpreter } from './find-interpreter.ts'
import type { Isolation } from './isolation.ts'
import { prlimitArguments, type SandboxResources } from './resource-limits.ts'
import { buildSandboxView } from './sandbox-view.ts'

/** The descriptor on which `SUPERVISE_CODE` sends the files of the code. */
const FILES_DESCRIPTOR = 4

/** An isolation writes less than this about the process it started. */
const MAX_PROCESS_INFO = 4096

/** How often the host counts the files of a sandbox that cannot limit their number itself. */
const COUNT_FILES_MS = 50

/** One run of code in a new sandbox. */
export interface SandboxRun {
  /** Builds the sandbox. */
  readonly isolation: Isolation
  /** Runs the code. */
  readonly interpreter: InstalledInterpreter
  /** The code, its signal and its tools. */
  readonly request: CodeRequest
  /** Files to put into the working directory, by name. */
  readonly inputFiles: ReadonlyMap<string, Uint8Array>
  /** Deadline and output limits. */
  readonly limits: ExecutorLimits
  /** Limits on memory, CPU time, processes and files. */
  readonly resources: SandboxResources
  /** Paths of the machine to show read-only. */
  readonly readOnlyPaths: readonly string[]
  /** Environment variables to add. */
  readonly env: Readonly<Record<string, string>>
  /** Collects what the code prints. */
  readonly output: PrintedOutput
  /** Collects the files the code writes. */
  readonly outputFiles: OutputFiles
}

/** Runs code in a sandbox that exists for this run only. Throws when the sandbox cannot be built. */
export async function runInSandbox(run: SandboxRun): Promise<RunEnd> {
  const { isolation, interpreter, request, limits, resources, output, outputFiles } = run
  const usesTools = interpreter.toolClient !== undefined && request.callTool !== undefined
  const { memoryBytes } = resources
  const program = packProgram(interpreter, { code: request.code, usesTools, folder: RUN_FOLDER, memoryBytes })
  const input = packSandboxFiles(program, run.inputFiles, resources)
  const archive = new TarReader(outputFiles)
  const fileStream = new MarkedStream(['.'], [() => {}, (chunk) => archive.push(chunk)])
  const { infoDescriptor } = isolation
  let processInfo = ''
  const readProcessInfo = (chunk: Uint8Array): void => {
    if (processInfo.length < MAX_PROCESS_INFO) processInfo += Buffer.from(chunk).toString()
  }
  const end = await superviseRun({
    request,
    limits,
    output,
    usesTools,
    start: ({ outputHandlers, writableDescriptors, stop }) => {
      const readFiles = (chunk: Uint8Array): void => {
        fileStream.push(chunk)
        if (archive.bytesRead > 2 * resources.diskBytes) stop(filesTooLarge(resources))
      }
      return startProcess({
        command: isolation.command({
          view: buildSandboxView([...interpreter.paths, ...run.readOnlyPaths]),
          resources,
          prlimitArguments: prlimitArguments(resources, interpreter.reservedMemory?.bytes ?? 0),
          stdin: program.stdin,
          usesTools,
          command: program.command,
        }),
        env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...codeEnvironment(WORK_FOLDER, '/tmp'), ...run.env },
        input,
        outputHandlers: new Map([
          ...outputHandlers,
          [FILES_DESCRIPTOR, readFiles],
          ...(infoDescriptor ? [[infoDescriptor, readProcessInfo] as const] : []),
        ]),
        writableDescriptors,
        descriptorInputs: isolation.descriptorInputs,
      })
    },
    watch: (stop) => {
      if (infoDescriptor === undefined) return () => {}
      const timer = setInterval(() => {
        if (fileStream.marksFound === 0) return // until the code starts, the process may still see the machine's /tmp
        const count = countFiles(`/proc/${readChildPid(processInfo)}/root/tmp`)
        if (count > resources.diskFiles) stop(`the code created more than ${resources.diskFiles} files`)
      }, COUNT_FILES_MS)
      return () => clearInterval(timer)
    },
  })
  if (fileStream.marksFound > 0 || 'stopped' in end) return end
  throw new ToolwrightError('INTERNAL', `The sandbox could not be built (${isolation.name}): ${output.toString()}`)
}

/** Reads the process id from the JSON that bubblewrap writes. */
function readChildPid(info: string): number {
  return Number(/"child-pid":\s*(\d+)/.exec(info)?.[1] ?? 0)
}
