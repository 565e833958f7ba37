// Calls one behaviour of the hostile server, and prints by how many MB the memory of this process has grown at most.
import { callOnce, hostileProcess } from './hostile-kit.ts'

const megabytes = (): number => process.resourceUsage().maxRSS / 1024
await callOnce({ connection: hostileProcess('honest'), calls: [{ name: 'evil' }] })
const before = megabytes()
const { response } = await callOnce({
  connection: hostileProcess(process.argv[2] ?? ''),
  calls: [{ name: 'evil' }],
  options: { callTimeoutMs: 2_000 },
})
console.log(JSON.stringify({ grown: Math.round(megabytes() - before), keys: Object.keys(response) }))
