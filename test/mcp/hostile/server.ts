// The hostile MCP server as a program: node server.ts <behaviour>. It speaks MCP on stdin and stdout without an SDK, so that
// it can misbehave.
import { behaviours } from './behaviours.ts'
import { type Behaviour, type Message, newMemory, type Peer, receive } from './peer.ts'

const name = process.argv[2] ?? ''
const behaviour: Behaviour | undefined = Object.hasOwn(behaviours, name) ? behaviours[name] : undefined
if (!behaviour) throw new Error(`There is no behaviour "${name}". Use one of: ${Object.keys(behaviours).join(', ')}`)

const peer: Peer = {
  send: (message) => peer.sendText(JSON.stringify({ jsonrpc: '2.0', ...message })),
  sendText: (text) => peer.write(`${text}\n`),
  write: (text) => void process.stdout.write(text),
  memory: newMemory(),
}

behaviour.start?.(peer)
process.stdout.on('error', () => process.exit(0)) // the client is gone
let buffered = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (chunk: string) => {
  buffered += chunk
  const lines = buffered.split('\n')
  buffered = lines.pop() ?? ''
  for (const line of lines) receive(behaviour, JSON.parse(line) as Message, peer)
})
