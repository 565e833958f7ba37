import { ToolwrightError } from '../../error/error.ts'
import type { CodeRequest } from '../../tool/code-executor.ts'
import type { Limits } from '../executor-options.ts'
import type { OutputFiles } from '../files/output-files.ts'
import { TarReader } from '../files/tar.ts'
import { packProgram } from '../languages/pack-program.ts'
import { MarkedStream } from '../output/marked-stream.ts'
import type { Output } from '../output/printed-output.ts'
import { start } from '../process/child-process.ts'
import { codeEnvironment } from '../process/code-environment.ts'
import { filesIn } from '../process/machine.ts'
import { packSandbox, RUN_FOLDER, WORK_FOLDER } from '../process/pack-sandbox.ts'
import { type End, followRun } from '../process/supervise-run.ts'
import type { Interpreter } from './find-interpreter.ts'
import type { Isolation } from './isolation.ts'
import { limitArguments, type Resources } from './resource-limits.ts'
import { viewOf } from './sandbox-view.ts'

/** The descriptor the script that looks after the code sends the code's files to. */
const FILES = 4

/** More than an isolation has to write about the process it started. */
const MAX_PROCESS_INFO = 4096

/** How often the files of a sandbox are counted that cannot be made to hold only so many. */
const COUNT_MS = 50

export interface SandboxRun {
  readonly isolation: Isolation
  readonly interpreter: Interpreter
  readonly request: CodeRequest
  readonly given: ReadonlyMap<string, Uint8Array>
  readonly limits: Limits
  readonly resources: Resources
  readonly paths: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly output: Output
  readonly files: OutputFiles
}

/** Runs code in a sandbox that is built for it and gone with it. Throws when it cannot be built. */
export async function runInSandbox(run: SandboxRun): Promise<End> {
  const { isolation, interpreter, request, limits, resources, output, files } = run
  const usesTools = interpreter.tools !== undefined && request.callTool !== undefined
  const { memoryBytes } = resources
  const program = packProgram(interpreter, { code: request.code, usesTools, folder: RUN_FOLDER, memoryBytes })
  const input = packSandbox(program, run.given, resources)
  const archive = new TarReader(files)
  const sent = new MarkedStream(['.'], [() => {}, (chunk) => archive.push(chunk)])
  const { processDescriptor } = isolation
  let processInfo = ''
  const readProcess = (chunk: Uint8Array): void => {
    if (processInfo.length < MAX_PROCESS_INFO) processInfo += Buffer.from(chunk).toString()
  }
  const end = await followRun({
    request,
    limits,
    output,
    usesTools,
    start: ({ listen, speak, stop }) => {
      const readFiles = (chunk: Uint8Array): void => {
        sent.push(chunk)
        if (archive.bytes > 2 * resources.diskBytes) stop('its files are larger than they may be')
      }
      const { stdin, command } = program
      const view = viewOf([...interpreter.paths, ...run.paths])
      const limits = limitArguments(resources, interpreter.reserves?.bytes ?? 0)
      return start({
        command: isolation.command({ view, resources, limits, stdin, usesTools, command }),
        env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...codeEnvironment(WORK_FOLDER, '/tmp'), ...run.env },
        input,
        listen: new Map([
          ...listen,
          [FILES, readFiles],
          ...(processDescriptor ? [[processDescriptor, readProcess] as const] : []),
        ]),
        speak,
        give: isolation.gives,
      })
    },
    watch: (stop) => {
      if (processDescriptor === undefined) return () => {}
      const timer = setInterval(() => {
        if (sent.found === 0) return // until it starts it sees the machine's own files
        const made = filesIn(`/proc/${childOf(processInfo)}/root/tmp`)
        if (made > resources.diskFiles) stop(`it made more than ${resources.diskFiles} files`)
      }, COUNT_MS)
      return () => clearInterval(timer)
    },
  })
  if (sent.found > 0 || 'stopped' in end) return end
  throw new ToolwrightError('INTERNAL', `The sandbox could not be built (${isolation.name}): ${output.toString()}`)
}

/** The process bubblewrap says it has started. */
function childOf(info: string): number {
  return Number(/"child-pid":\s*(\d+)/.exec(info)?.[1] ?? 0)
}
