// Replays the recorded tours in one process, in which nothing can connect or start a process. Prints the results as JSON.
import { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { readEvalSet, runEvals } from 'toolwright/eval'
import { loadTour, recordingOf, tours } from './recorded-tours.ts'

const attempts: string[] = []
const sets = []
for (const tour of tours) {
  const { target } = await loadTour(tour)
  const file = recordingOf(tour)
  sets.push({ ...readEvalSet(readFileSync(file, 'utf8'), file), agent: target })
}
forbid(Socket.prototype, 'connect')
forbid(ChildProcess.prototype as unknown as Record<'spawn', unknown>, 'spawn')
const { cases } = await runEvals({ sets, mode: 'replay' })
console.log(JSON.stringify({ cases, attempts }))
process.exit()

function forbid<Name extends string>(prototype: Record<Name, unknown>, name: Name): void {
  prototype[name] = () => {
    attempts.push(name)
    throw new Error(`A replay must not ${name}.`)
  }
}
