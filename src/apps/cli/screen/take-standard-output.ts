import { Writable } from 'node:stream'
import type { Terminal } from '../terminal.ts'
import type { Output } from './screen.ts'

/**
 * Reserves standard output for what a program reads: returns the stream to write to, and sends everything else that the process
 * prints to standard error. One line of a tool's `console.log` would break a protocol.
 */
export function takeStandardOutput({ output }: Pick<Terminal, 'output'>): Output {
  if ((output as unknown) !== process.stdout) return output
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  return new Writable({
    // a failed write, such as to a closed pipe, ends the process where standard output reports it
    write: (chunk, encoding, done) => void write(chunk, encoding, () => done()),
  })
}
