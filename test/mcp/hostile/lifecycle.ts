// Behaviours around the life of the process and the handshake.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { answer, answerText, type Behaviour, type Message, type Peer } from './peer.ts'

const silent = (): void => {}

/** Exits before the answer is written completely. */
function exitAfter(peer: Peer, text: string): void {
  peer.write(text)
  process.stdout.write('', () => process.exit(0))
}

function initialize(more: object): NonNullable<Behaviour['on']> {
  const capabilities = { tools: { listChanged: true } }
  return {
    initialize: (message, peer) =>
      answer(peer, message, {
        protocolVersion: '2025-11-25',
        capabilities,
        serverInfo: { name: 'hostile', version: '1' },
        ...more,
      }),
  }
}

export const lifecycle: { readonly [name: string]: Behaviour } = {
  honest: { about: 'Misbehaves in no way.' },
  'exits-at-once': {
    about: 'Prints a reason on stderr and exits before the handshake.',
    start: () => {
      process.stderr.write('The configuration file is missing.\n')
      process.exit(3)
    },
  },
  'exits-in-handshake': {
    about: 'Exits when it gets the first request.',
    on: { 'server/discover': () => process.exit(4), initialize: () => process.exit(4) },
  },
  'silent-handshake': {
    about: 'Never answers the handshake.',
    on: { 'server/discover': silent, initialize: silent },
  },
  'garbage-handshake': {
    about: 'Answers the handshake with values that are no results.',
    on: { initialize: ({ id }, peer) => peer.send({ id, result: 'yes' }) },
  },
  'wrong-version': {
    about: 'Answers the handshake with a protocol of the future.',
    on: initialize({ protocolVersion: '2099-01-01' }),
  },
  'huge-handshake': {
    about: 'Answers the handshake with 40 MB.',
    on: initialize({ instructions: 'x'.repeat(40_000_000) }),
  },
  'probe-hangs': { about: 'Ignores the request of the new protocol.', on: { 'server/discover': silent } },
  'probe-exits': {
    about: 'Exits when it gets a request of the new protocol, as servers do that know only the old one.',
    on: { 'server/discover': () => process.exit(5) },
  },
  'exits-in-call': { about: 'Is killed during a call.', call: () => process.kill(process.pid, 'SIGKILL') },
  'exits-in-first-call': {
    about: 'Is killed during the first call. The state is in a file.',
    call: (message, peer) => {
      const file = process.env.HOSTILE_FILE ?? ''
      try {
        writeFileSync(file, 'called', { flag: 'wx' })
      } catch {
        return answerText(peer, message, 'second try')
      }
      process.kill(process.pid, 'SIGKILL')
    },
  },
  'half-line': {
    about: 'Exits after half of the answer.',
    call: ({ id }, peer) => exitAfter(peer, `{"jsonrpc":"2.0","id":${id},"result":{"conte`),
  },
  'exits-after-answer': {
    about: 'Exits right after a large answer.',
    call: (message, peer) => {
      answerText(peer, message, `${'x'.repeat(200_000)} complete`)
      process.stdout.write('', () => process.exit(0))
    },
  },
  'hangs-in-call': { about: 'Never answers a call.', call: silent },
  'late-answer': {
    about: 'Answers a call only after it was cancelled.',
    call: (message, peer) => {
      peer.memory.waiting = message
    },
    on: {
      'notifications/cancelled': (_, peer) => answerText(peer, peer.memory.waiting as Message, 'too late'),
    },
  },
  'ignores-sigterm': {
    about: 'Ignores the end of stdin and SIGTERM.',
    start: () => {
      process.on('SIGTERM', silent)
      setInterval(silent, 1_000)
    },
  },
  'leaves-grandchild': {
    about: 'Starts a process of its own, which ignores SIGTERM, and reports its id.',
    call: (message, peer) => {
      const program = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'
      const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'inherit', 'inherit'] })
      answerText(peer, message, `pid ${child.pid}`)
    },
  },
  'exits-leaving-grandchild': {
    about: 'Starts a process that holds its stdout, then is killed during the call.',
    call: () => {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
      child.once('spawn', () => {
        writeFileSync(process.env.HOSTILE_FILE ?? '', String(child.pid))
        process.kill(process.pid, 'SIGKILL')
      })
    },
  },
  banners: {
    about: 'Prints banners, ANSI codes, blank lines and JSON that is no message.',
    start: (peer) =>
      peer.write('\u001b[1mWelcome!\u001b[0m\n\n  \n[1,2]\n"text"\n42\nnull\n{"no":"message"}\n{broken\n'),
  },
  'endless-line': {
    about: 'Prints 200 MB without a line end during a call.',
    call: () => {
      const chunk = 'x'.repeat(1_000_000)
      let left = 200
      const more = (): void => {
        while (left-- > 0) if (!process.stdout.write(chunk)) return void process.stdout.once('drain', more)
      }
      more()
    },
  },
  'floods-stderr': {
    about: 'Prints 100 MB to stderr, then answers.',
    call: (message, peer) => {
      const chunk = 'e'.repeat(1_000_000)
      let left = 100
      const more = (): void => {
        while (left-- > 0) if (!process.stderr.write(chunk)) return void process.stderr.once('drain', more)
        answerText(peer, message, 'flooded')
      }
      more()
    },
  },
  'echoes-secrets': {
    about: 'Repeats its secret in results, errors, progress, and on stderr.',
    call: (message, peer) => {
      const secret = process.env.API_TOKEN
      process.stderr.write(`token: ${secret}\n`)
      const progressToken = message.params?._meta?.progressToken
      peer.send({ method: 'notifications/progress', params: { progressToken, progress: 1, message: `with ${secret}` } })
      const how = message.params?.arguments?.how
      if (how === 'exit')
        setTimeout(() => process.exit(1), 50) // its output is read before
      else if (how === 'error') peer.send({ id: message.id, error: { code: -32000, message: `bad token ${secret}` } })
      else
        answer(peer, message, {
          content: [{ type: 'text', text: `token ${secret}` }],
          structuredContent: { [`key ${secret}`]: { deep: [secret] } },
        })
    },
    tools: () => [{ name: 'evil', inputSchema: { type: 'object', properties: { how: { type: 'string' } } } }],
  },
  'deaf-to-answers': {
    about: 'Sends pings without end and reads nothing.',
    call: (_, peer) => {
      process.stdin.pause()
      let id = 0
      const line = (): string => `{"jsonrpc":"2.0","id":"ping-${id++}","method":"ping"}\n`
      const more = (): void => {
        for (;;) {
          const many = Array.from({ length: 1_000 }, line).join('')
          if (id > 400_000) return void peer.write('')
          if (!process.stdout.write(many)) return void process.stdout.once('drain', more)
        }
      }
      more()
    },
  },
}
