import { Writable } from 'node:stream'
import type { Terminal } from '../terminal.ts'

/**
 * Reserves standard output for the protocol: returns the stream to write to, and sends everything else that the process
 * prints to standard error. One line of a tool's `console.log` would break the connection.
 */
export function takeStandardOutput({ output }: Pick<Terminal, 'output'>): object {
  if ((output as unknown) !== process.stdout) return output
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  return new Writable({
    write: (chunk, encoding, done) => void write(chunk, encoding, done),
  })
}
