import type { CodeResult } from '../../tool/code-executor.ts'
import type { Limits } from '../executor-options.ts'
import type { OutputFiles } from '../files/output-files.ts'
import type { Output } from '../output/printed-output.ts'
import type { End } from './supervise-run.ts'

/** A shell's word for a process that a signal ended: 128 and the signal's number. */
const SIGNAL = 128
const SIGKILL = 9
const SIGXCPU = 24

/** What the model is told of a run that came to an end. */
export function verdict(end: End, { timeoutMs }: Limits, output: Output, files: OutputFiles): CodeResult {
  const outcome = outcomeOf(end, output, timeoutMs)
  if (files.note) output.note(files.note)
  return { outcome, output: output.toString(), ...(files.list.length > 0 && { files: files.list }) }
}

function outcomeOf(end: End, output: Output, timeoutMs: number): CodeResult['outcome'] {
  if ('stopped' in end) {
    output.note(end.stopped === 'deadline' ? `stopped after ${timeoutMs} ms` : `stopped: ${end.stopped.reason}`)
    return end.stopped === 'deadline' ? 'DEADLINE_EXCEEDED' : 'FAILED'
  }
  switch (end.code) {
    case 0:
      return 'OK'
    case SIGNAL + SIGXCPU:
      output.note('stopped: it used up its processor time')
      return 'DEADLINE_EXCEEDED'
    case SIGNAL + SIGKILL:
    case undefined:
      output.note('killed: it may have needed more memory than it may have')
      return 'FAILED'
    default:
      output.note(`exit code ${end.code}`)
      return 'FAILED'
  }
}
