// One role of the attacks on a server with default limits: the server, the attacker eve, or ada, whose turns are measured.
// Prints READY and RESULT lines.
const [role, json] = process.argv.slice(2)
const settings = JSON.parse(json)
const print = (word, value) => process.stdout.write(`${word} ${JSON.stringify(value)}\n`)
const ADA = 'token-of-ada-0123456789'
const EVE = 'token-of-eve-0123456789'

async function server() {
  const { LlmAgent, tool } = await import('toolwright')
  const { bearerTokens, createServer } = await import('toolwright/server')
  const { sqlite } = await import('toolwright/sqlite')
  const parameters = { type: 'object', properties: { text: { type: 'string' } } }
  const post = tool({ name: 'post', description: 'Posts', parameters, requiresConfirmation: true, run: () => 1 })
  const model = {
    name: 'instant',
    async *generate({ contents }) {
      const text = contents.at(-1)?.parts[0]?.text ?? ''
      const part = text.startsWith('post') ? { functionCall: { name: 'post', args: { text } } } : { text: 'Done.' }
      yield { content: { role: 'model', parts: [part] } }
    },
  }
  const host = createServer({
    apps: { shop: new LlmAgent({ name: 'clerk', model, tools: [post] }) },
    services: sqlite(settings.file),
    authenticate: bearerTokens({ [ADA]: 'ada', [EVE]: 'eve' }),
    logger: { warn: () => {}, error: (...line) => console.error(...line) },
  })
  const { url } = await host.listen({ port: 0 })
  let rssMB = 0
  const sampling = setInterval(() => {
    rssMB = Math.max(rssMB, process.memoryUsage.rss() / 1e6)
  }, 20)
  print('READY', { url })
  process.stdin.resume().on('end', async () => {
    clearInterval(sampling)
    print('RESULT', { rssMB })
    await host.close()
  })
}

/** Sends a request as a user. Resolves with the status, and reads the body. */
async function send(user, method, path, body) {
  const headers = { authorization: `Bearer ${user}`, 'content-type': 'application/json' }
  const init = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
  const response = await fetch(settings.url + path, { method, headers, ...init })
  for await (const _ of response.body ?? []);
  return response.status
}

const SESSIONS = '/apps/shop/users/eve/sessions'
const run = (sessionId, text) => ({ appName: 'shop', userId: 'eve', sessionId, newMessage: { parts: [{ text }] } })
const keys = (count, prefix = 'k') => Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, 1]))

/** What eve does: `prepare` once, then `attack` again and again from 8 connections. */
const ATTACKS = {
  'many state keys': {
    prepare: () => send(EVE, 'POST', SESSIONS, { sessionId: 'keys' }),
    attack: () => send(EVE, 'PATCH', `${SESSIONS}/keys`, { stateDelta: keys(99_000) }),
  },
  'large state in many sessions': {
    prepare: async () => {
      const user = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`user:${n}`, 'x'.repeat(100_000)]))
      await send(EVE, 'POST', SESSIONS, { sessionId: 'user', state: user })
      for (let n = 0; n < 60; n++)
        await send(EVE, 'POST', SESSIONS, { sessionId: `state-${n}`, state: { big: 'x'.repeat(900_000) } })
    },
    attack: (n) => send(EVE, 'GET', n % 2 ? SESSIONS : `${SESSIONS}?limit=50`),
  },
  'reads of a large session': {
    prepare: async () => {
      await send(EVE, 'POST', SESSIONS, { sessionId: 'large' })
      for (let n = 0; n < 12; n++) await send(EVE, 'POST', '/run', run('large', 'x'.repeat(3_000_000)))
    },
    attack: (n) => send(EVE, 'GET', `${SESSIONS}/large${n % 2 ? '' : '?limit=100'}`),
  },
  'large messages': {
    prepare: async () => {
      for (let n = 0; n < 10; n++) await send(EVE, 'POST', SESSIONS, { sessionId: `message-${n}` })
    },
    attack: (n) => send(EVE, 'POST', '/run', run(`message-${n % 10}`, 'x'.repeat(19_000_000))),
  },
  'pending requests': {
    prepare: async () => {
      for (let n = 0; n < 60; n++) {
        await send(EVE, 'POST', SESSIONS, { sessionId: `pending-${n}` })
        await send(EVE, 'POST', '/run', run(`pending-${n}`, `post ${'x'.repeat(200_000)}`))
      }
    },
    attack: (n) => send(EVE, 'GET', n % 2 ? '/metrics' : '/apps/shop/users/eve/pending'),
  },
  'a long session in the memory': {
    prepare: async () => {
      await send(EVE, 'POST', SESSIONS, { sessionId: 'memory' })
      const text = Array.from({ length: 400_000 }, (_, n) => `w${n.toString(36)}`).join(' ')
      for (let n = 0; n < 10; n++) await send(EVE, 'POST', '/run', run('memory', text))
    },
    attack: () => send(EVE, 'PATCH', '/apps/shop/users/eve/memory', { sessionId: 'memory' }),
  },
  'guesses of tokens': { prepare: () => {}, attack: (n) => send(`guess-${n}-0123456789`, 'GET', SESSIONS) },
}

async function attacker() {
  const { prepare, attack } = ATTACKS[settings.attack]
  await prepare()
  print('READY', {})
  let isOver = false
  process.stdin.resume().on('end', () => {
    isOver = true
  })
  const statuses = {}
  let n = 0
  const loop = async () => {
    while (!isOver) {
      const status = await attack(n++)
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status === 429) await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  await Promise.all(Array.from({ length: 8 }, loop))
  print('RESULT', statuses)
}

async function victim() {
  const times = []
  let errors = 0
  const sessionId = `of-ada-${Date.now()}`
  await send(ADA, 'POST', '/apps/shop/users/ada/sessions', { sessionId })
  const message = { appName: 'shop', userId: 'ada', sessionId, newMessage: { parts: [{ text: 'Hi' }] } }
  const end = performance.now() + settings.seconds * 1_000
  while (performance.now() < end) {
    const start = performance.now()
    if ((await send(ADA, 'POST', '/run', message)) !== 200) errors++
    times.push(performance.now() - start)
    await new Promise((resolve) => setTimeout(resolve, 60)) // within the rate of one user
  }
  const sorted = times.toSorted((a, b) => a - b)
  print('RESULT', { p99: sorted[Math.floor(sorted.length * 0.99)], turns: sorted.length, errors })
}

/** The attacks, for the program that starts the roles. */
if (role === 'names') print('RESULT', Object.keys(ATTACKS))
else await { server, attacker, victim }[role]()
