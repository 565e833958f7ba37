// One role of the server benchmark: the server, or its clients. Prints READY and RESULT lines.
const [role, json] = process.argv.slice(2)
const settings = JSON.parse(json)
const CALLS = 3
const print = (word, value) => process.stdout.write(`${word} ${JSON.stringify(value)}\n`)

const sorted = (values) => values.toSorted((a, b) => a - b)
const quantile = (values, q) => sorted(values)[Math.min(values.length - 1, Math.floor(values.length * q))]

async function server() {
  const { LlmAgent, Runner, tool } = await import('toolwright')
  const { createServer } = await import('toolwright/server')
  const add = tool({
    name: 'add',
    description: 'Adds numbers',
    effect: 'none',
    parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    run: ({ n }) => ({ sum: n + 1 }),
  })
  const model = {
    name: 'instant',
    async *generate({ contents }) {
      const done = contents.filter(({ role }) => role === 'tool').length
      const part = done < CALLS ? { functionCall: { name: 'add', args: { n: done } } } : { text: 'Done.' }
      yield { content: { role: 'model', parts: [part] } }
    },
  }
  const agent = new LlmAgent({ name: 'adder', model, tools: [add] })
  const runner = new Runner({ appName: 'adder', agent })
  const runnerMs = settings.concurrency === 1 ? await timeRunner(runner) : 0
  const limits = { requestsPerMinute: 1e9, concurrentRuns: 1e6, sessionsPerUser: 1e9 }
  const host = createServer({ apps: { adder: runner }, limits })
  const { url } = await host.listen({ port: 0 })
  let rssMB = 0
  const sampling = setInterval(() => {
    rssMB = Math.max(rssMB, process.memoryUsage.rss() / 1e6)
  }, 20)
  print('READY', { url, token: host.token, runnerMs })
  process.stdin.resume().on('end', async () => {
    clearInterval(sampling)
    print('RESULT', { rssMB })
    await host.close()
  })
}

/** The median of one turn of the runner, with the same work as a request. */
async function timeRunner(runner) {
  const times = []
  for (let n = 0; n < settings.rounds; n++) {
    const { id: sessionId } = await runner.sessionService.createSession({ appName: 'adder', userId: 'ada' })
    const start = performance.now()
    for await (const _ of runner.run({ userId: 'ada', sessionId, message: 'Add.', runConfig: { detach: true } }));
    times.push(performance.now() - start)
  }
  return quantile(times.slice(times.length >> 1), 0.5)
}

async function client() {
  const { Agent, request } = await import('node:http')
  const { url, token, concurrency, rounds } = settings
  const agent = new Agent({ keepAlive: true })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }

  /** Resolves to the body, and the times of its first and last byte. */
  const post = (path, body) =>
    new Promise((resolve, reject) => {
      const start = performance.now()
      let first
      let text = ''
      const sent = request(url + path, { method: 'POST', agent, headers }, (response) => {
        response.setEncoding('utf8')
        response.on('data', (data) => {
          first ??= performance.now() - start
          text += data
        })
        response.on('end', () => resolve({ status: response.statusCode, text, first, last: performance.now() - start }))
        response.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(JSON.stringify(body))
    })

  const firsts = []
  const lasts = []
  let errors = 0
  const run = async (sessionId, isMeasured) => {
    const newMessage = { role: 'user', parts: [{ text: 'Add.' }] }
    try {
      const { status, text, first, last } = await post('/run_sse', {
        appName: 'adder',
        userId: 'ada',
        sessionId,
        newMessage,
      })
      if (status !== 200 || !text.includes('Done.') || text.split('\n\n').length !== CALLS * 2 + 2)
        throw new Error(text)
      if (isMeasured) firsts.push(first)
      if (isMeasured) lasts.push(last)
    } catch (error) {
      errors++
      if (errors === 1) console.error(error)
    }
  }
  const all = (work) => Promise.all(Array.from({ length: concurrency }, work))
  const round = async (isMeasured) => {
    const sessions = await all(async () => JSON.parse((await post('/apps/adder/users/ada/sessions', {})).text).id)
    await Promise.all(sessions.map((sessionId) => run(sessionId, isMeasured)))
  }
  const warmUp = concurrency === 1 ? rounds : 3
  for (let n = 0; n < warmUp; n++) await round(false)
  for (let n = 0; n < rounds; n++) await round(true)
  agent.destroy()
  print('RESULT', {
    firstP99: quantile(firsts, 0.99),
    lastP99: quantile(lasts, 0.99),
    lastP50: quantile(lasts, 0.5),
    errors,
  })
}

await (role === 'server' ? server() : client())
