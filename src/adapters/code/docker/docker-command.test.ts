import { expect, test } from 'vitest'
import { dockerCommand } from './docker-command.ts'

const run = {
  name: 'toolwright-abc',
  image: 'python:3.13-slim',
  memoryBytes: 256_000_000,
  cpus: 1,
  processes: 128,
  diskBytes: 64_000_000,
  diskFiles: 10_000,
  timeoutMs: 30_000,
  env: { HOME: '/tmp/work' },
  mark: 'MARK',
  stdin: undefined,
  command: ['python3', '/tmp/run/main.py'],
}

test('dockerCommand() locks the container down, argument for argument', () => {
  const args = dockerCommand(run)
  const script = args.indexOf('-c') + 1
  expect(args.toSpliced(script, 1, 'SCRIPT')).toEqual([
    ...['run', '--rm', '--interactive', '--name', 'toolwright-abc', '--pull', 'never', '--log-driver', 'none'],
    ...['--network', 'none', '--read-only', '--user', '65534:65534', '--cap-drop', 'ALL'],
    ...['--security-opt', 'no-new-privileges', '--ipc', 'none', '--hostname', 'sandbox'],
    ...['--memory', '256000000', '--memory-swap', '256000000', '--cpus', '1', '--pids-limit', '128'],
    ...['--ulimit', 'core=0', '--ulimit', 'fsize=64000000'],
    ...['--tmpfs', '/tmp:rw,exec,nosuid,nodev,mode=1777,size=64000000,nr_inodes=10000'],
    ...['--env', 'HOME=/tmp/work', '--workdir', '/tmp', '--entrypoint', 'sh', 'python:3.13-slim', '-c', 'SCRIPT'],
    ...['sandbox', 'MARK', 'MARK', '/dev/null', 'timeout', '-s', 'KILL', '40', 'python3', '/tmp/run/main.py'],
  ])
})

test('dockerCommand() mounts, shares and allows nothing of the host', () => {
  const options = dockerCommand(run).filter((word) => word.startsWith('-'))
  const harmful = [
    '-v',
    '--volume',
    '--mount',
    '--privileged',
    '--device',
    '--pid',
    '--userns',
    '--cap-add',
    '-p',
    '--publish',
  ]
  expect(options.filter((word) => harmful.includes(word))).toEqual([])
})
