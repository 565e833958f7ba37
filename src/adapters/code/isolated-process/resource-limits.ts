import { anything, type OptionRules } from '../../../core/error/check-options.ts'
import { readPositiveInteger } from '../executor-options.ts'
import { readHardLimits } from '../process/machine.ts'

/** What one run may use of the machine. Some limits hold for each process of the run, others for the whole run. */
export interface ResourceLimits {
  /** Address space of each process in bytes. Default 512 000 000. */
  readonly memoryBytes?: number | undefined
  /** CPU time of each process in seconds. Default: `timeoutMs`, rounded up to seconds. */
  readonly cpuSeconds?: number | undefined
  /** Processes and threads of the whole run. Default 128. */
  readonly processes?: number | undefined
  /** Bytes the whole run can write to files, which are kept in memory. Also the size of the largest file. Default 64 000 000. */
  readonly diskBytes?: number | undefined
  /** Files and folders of the whole run. Default 10 000. */
  readonly diskFiles?: number | undefined
  /** Open files of each process. Default 256. */
  readonly openFiles?: number | undefined
}

/** How `checkOptions` checks the resource limits. */
export const RESOURCE_RULES: OptionRules<ResourceLimits> = {
  memoryBytes: anything,
  cpuSeconds: anything,
  processes: anything,
  diskBytes: anything,
  diskFiles: anything,
  openFiles: anything,
}

/** The resource limits with every default filled in. */
export type SandboxResources = { readonly [K in keyof ResourceLimits]-?: number }

/** Checks the resource limits and fills in the defaults. */
export function readResourceLimits(options: ResourceLimits, timeoutMs: number): SandboxResources {
  return {
    memoryBytes: readPositiveInteger('memoryBytes', options.memoryBytes, 512_000_000),
    cpuSeconds: readPositiveInteger('cpuSeconds', options.cpuSeconds, Math.ceil(timeoutMs / 1000)),
    processes: readPositiveInteger('processes', options.processes, 128),
    diskBytes: readPositiveInteger('diskBytes', options.diskBytes, 64_000_000),
    diskFiles: readPositiveInteger('diskFiles', options.diskFiles, 10_000),
    openFiles: readPositiveInteger('openFiles', options.openFiles, 256),
  }
}

/**
 * The arguments of `prlimit`. A limit above the hard limit of this process is lowered to it, because the kernel refuses to
 * raise it. `reservedBytes` is address space that the engine reserves without using it.
 */
export function prlimitArguments(
  resources: SandboxResources,
  reservedBytes: number,
  hard: ReadonlyMap<string, number> = readHardLimits(),
): string[] {
  const limit = (option: string, name: string, value: number, more = 0): string => {
    const max = hard.get(name) ?? Number.POSITIVE_INFINITY
    return `--${option}=${Math.min(value, max)}:${Math.min(value + more, max)}`
  }
  return [
    limit('as', 'Max address space', resources.memoryBytes + reservedBytes),
    limit('cpu', 'Max cpu time', resources.cpuSeconds, 1), // one second between the signal and the kill
    limit('fsize', 'Max file size', resources.diskBytes),
    limit('nofile', 'Max open files', resources.openFiles),
    limit('core', 'Max core file size', 1), // a limit of 0 would still start the crash reporter of the machine
  ]
}
