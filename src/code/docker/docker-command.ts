import { BUILT, LOOK_AFTER } from '../process/sandbox-script.ts'

export interface DockerRun {
  /** The container is ended by it. */
  readonly name: string
  readonly image: string
  readonly memoryBytes: number
  readonly cpus: number
  readonly processes: number
  readonly diskBytes: number
  readonly diskFiles: number
  readonly timeoutMs: number
  readonly env: Readonly<Record<string, string>>
  /** Says where in the output the code's own begins, and where its files do. */
  readonly mark: string
  /** A file in the container. */
  readonly stdin: string | undefined
  readonly command: readonly string[]
}

/** A container has three streams and no more: the files follow what the code printed. */
const SCRIPT = `exec 4>&1
${BUILT}${LOOK_AFTER}`

/** Longer than the deadline by so much, a container ends by itself: whoever started it may be gone. */
const LEFT_ALONE_SECONDS = 10

/** Arguments for `docker`: nobody in particular, no network, nothing to write but a small file system in memory. */
export function dockerCommand(run: DockerRun): string[] {
  const seconds = Math.ceil(run.timeoutMs / 1000) + LEFT_ALONE_SECONDS
  return [
    ...['run', '--rm', '--interactive', '--name', run.name, '--pull', 'never', '--log-driver', 'none'],
    ...['--network', 'none', '--read-only', '--user', '65534:65534', '--cap-drop', 'ALL'],
    ...['--security-opt', 'no-new-privileges', '--ipc', 'none', '--hostname', 'sandbox'],
    ...['--memory', String(run.memoryBytes), '--memory-swap', String(run.memoryBytes), '--cpus', String(run.cpus)],
    ...['--pids-limit', String(run.processes), '--ulimit', 'core=0', '--ulimit', `fsize=${run.diskBytes}`],
    ...['--tmpfs', `/tmp:rw,exec,nosuid,nodev,mode=1777,size=${run.diskBytes},nr_inodes=${run.diskFiles}`],
    ...Object.entries(run.env).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...['--workdir', '/tmp', '--entrypoint', 'sh', run.image, '-c', SCRIPT, 'sandbox'],
    ...[run.mark, run.mark, run.stdin ?? '/dev/null', 'timeout', '-s', 'KILL', String(seconds), ...run.command],
  ]
}
