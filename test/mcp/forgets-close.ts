// A program that never closes its runner. It prints the id of the server process, and must exit by itself.
import { hostileProcess, meet } from './hostile-kit.ts'

const program = { ...hostileProcess('honest') }
const meeting = meet({
  connection: program,
  steps: [{ calls: [{ name: 'echo', args: { text: 'hi' } }] }, 'done'],
})
const { text } = await meeting.send()
console.log(text)
