import type { CodeResult } from '../../../engine/tool/code-executor.ts'
import type { ExecutorLimits } from '../executor-options.ts'
import type { OutputFiles } from '../files/output-files.ts'
import type { PrintedOutput } from '../output/printed-output.ts'
import type { RunEnd } from './supervise-run.ts'

/** A shell reports a process that a signal ended as 128 plus the number of the signal. */
const SIGNAL = 128
const SIGKILL = 9
const SIGXCPU = 24

/** Turns the end of a run into the result that the model sees. */
export function toCodeResult(
  end: RunEnd,
  { timeoutMs }: ExecutorLimits,
  output: PrintedOutput,
  files: OutputFiles,
): CodeResult {
  const outcome = describeEnd(end, output, timeoutMs)
  if (files.skippedNote) output.addNote(files.skippedNote)
  return { outcome, output: output.toString(), ...(files.saved.length > 0 && { files: files.saved }) }
}

/** Returns the outcome and adds a note to the output that explains it. */
function describeEnd(end: RunEnd, output: PrintedOutput, timeoutMs: number): CodeResult['outcome'] {
  if ('stopped' in end) {
    output.addNote(end.stopped === 'deadline' ? `stopped after ${timeoutMs} ms` : `stopped: ${end.stopped.reason}`)
    return end.stopped === 'deadline' ? 'DEADLINE_EXCEEDED' : 'FAILED'
  }
  switch (end.code) {
    case 0:
      return 'OK'
    case SIGNAL + SIGXCPU:
      output.addNote('stopped: the code used up its CPU time')
      return 'DEADLINE_EXCEEDED'
    case SIGNAL + SIGKILL:
    case undefined:
      output.addNote('killed: the code probably exceeded its memory limit')
      return 'FAILED'
    default:
      output.addNote(`exit code ${end.code}`)
      return 'FAILED'
  }
}
