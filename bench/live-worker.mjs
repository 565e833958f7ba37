// One role of the live benchmark: the server, or a client with or without Toolwright. Prints READY and RESULT lines.
const [role, json] = process.argv.slice(2)
const settings = JSON.parse(json)
const FRAME_MS = 20
const FRAME_BYTES = 640 // 20 ms of 16-bit PCM with 16 kHz
const now = () => Number(process.hrtime.bigint() / 1000n) // microseconds, the same clock in all processes
const print = (word, value) => process.stdout.write(`${word} ${JSON.stringify(value)}\n`)

/** A frame whose first bytes say when it was sent. */
function frame() {
  const bytes = new Uint8Array(FRAME_BYTES)
  new DataView(bytes.buffer).setFloat64(0, now())
  return bytes
}
const ageMs = (bytes) => (now() - new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0)) / 1000

/** Counts ages in steps of 0.1 ms, so that memory stays the same. */
class Ages {
  counts = new Uint32Array(100_000)
  total = 0
  add(ms) {
    this.counts[Math.min(this.counts.length - 1, Math.max(0, Math.round(ms * 10)))]++
    this.total++
  }
  p99() {
    let left = this.total * 0.01
    for (let at = this.counts.length - 1; at >= 0; at--) {
      left -= this.counts[at]
      if (left < 0) return at / 10
    }
    return 0
  }
}

async function server() {
  const { WebSocketServer } = await import('ws')
  const wss = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  const ages = new Ages()
  const times = []
  let sent = 0
  wss.on('connection', (socket) => {
    let timer
    let callSent = 0
    const call = () => {
      callSent = now()
      const toolCall = { functionCalls: [{ id: `c${times.length}`, name: 'add', args: { a: times.length, b: 1 } }] }
      socket.send(JSON.stringify({ toolCall }))
    }
    socket.on('message', (data) => {
      const message = JSON.parse(data)
      if (message.setup) {
        socket.send(JSON.stringify({ setupComplete: {} }))
        if (settings.calls) setTimeout(call, 100)
        else
          timer = setInterval(() => {
            const inlineData = { mimeType: 'audio/pcm;rate=16000', data: Buffer.from(frame()).toString('base64') }
            socket.send(JSON.stringify({ serverContent: { modelTurn: { parts: [{ inlineData }] } } }))
            sent++
          }, FRAME_MS)
      } else if (message.toolResponse) {
        times.push(now() - callSent)
        if (times.length < settings.calls) call()
        else socket.close()
      } else if (message.realtimeInput?.audio) {
        ages.add(ageMs(Buffer.from(message.realtimeInput.audio.data, 'base64')))
      }
    })
    socket.on('close', () => clearInterval(timer))
    socket.on('error', () => {})
  })
  await new Promise((resolve) => wss.on('listening', resolve))
  print('READY', `http://127.0.0.1:${wss.address().port}`)
  process.stdin.on('end', () => {
    const steady = times.slice(times.length >> 2).sort((a, b) => a - b)
    print('RESULT', { callUs: steady[steady.length >> 1] ?? 0, inP99: ages.p99(), sent })
    process.exit(0)
  })
  process.stdin.resume()
}

async function bareSession(onmessage, onclose = () => {}) {
  const { GoogleGenAI } = await import('@google/genai')
  const ai = new GoogleGenAI({ apiKey: 'bench', httpOptions: { baseUrl: settings.url } })
  const functionDeclarations = [{ name: 'add', parametersJsonSchema: { type: 'object' } }]
  const config = { responseModalities: ['AUDIO'], tools: [{ functionDeclarations }] }
  return await ai.live.connect({ model: 'live', config, callbacks: { onmessage, onclose } })
}

async function bareCalls() {
  let session
  const closed = new Promise((resolve) => {
    bareSession((message) => {
      for (const { id, name, args } of message.toolCall?.functionCalls ?? []) {
        session.sendToolResponse({ functionResponses: [{ id, name, response: { sum: args.a + args.b } }] })
      }
    }, resolve).then((made) => {
      session = made
    })
  })
  await closed
  print('RESULT', {})
}

async function liveSession(tools) {
  const { connectLive } = await import('toolwright/live')
  const { geminiLive } = await import('toolwright/gemini')
  const model = geminiLive('live', { apiKey: 'bench', baseUrl: settings.url })
  return await connectLive({ model, tools, reconnect: { attempts: 0 } })
}

async function toolwrightCalls() {
  const { tool } = await import('toolwright')
  const parameters = {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  }
  const add = tool({
    name: 'add',
    description: 'Adds',
    parameters,
    effect: 'none',
    run: ({ a, b }) => ({ sum: a + b }),
  })
  const session = await liveSession([add])
  for await (const _ of session);
  print('RESULT', {})
}

/** Sends a frame every 20 ms for each session, and samples the heap. */
async function stream(send, ages) {
  const heaps = []
  const sample = () => {
    globalThis.gc()
    heaps.push(process.memoryUsage().heapUsed)
  }
  const timers = Array.from({ length: settings.sessions }, (_, at) => setInterval(() => send(at, frame()), FRAME_MS))
  const parts = 20
  for (let part = 0; part < parts; part++) {
    await new Promise((resolve) => setTimeout(resolve, (settings.minutes * 60_000) / parts))
    sample()
  }
  for (const timer of timers) clearInterval(timer)
  const average = (list) => list.reduce((sum, one) => sum + one, 0) / list.length
  return {
    outP99: ages.p99(),
    heapGrowth: average(heaps.slice(-2)) / average(heaps.slice(1, 3)),
    heapKbPerSession: average(heaps.slice(-2)) / 1000 / settings.sessions,
  }
}

async function bareAudio() {
  const ages = new Ages()
  const sessions = []
  for (let at = 0; at < settings.sessions; at++) {
    sessions.push(
      await bareSession((message) => {
        for (const { inlineData } of message.serverContent?.modelTurn?.parts ?? []) {
          if (inlineData) ages.add(ageMs(Buffer.from(inlineData.data, 'base64')))
        }
      }),
    )
  }
  const mimeType = 'audio/pcm;rate=16000'
  const result = await stream((at, bytes) => {
    sessions[at].sendRealtimeInput({ audio: { data: Buffer.from(bytes).toString('base64'), mimeType } })
  }, ages)
  print('RESULT', result)
  process.exit(0)
}

async function toolwrightAudio() {
  const ages = new Ages()
  let lost = 0
  const sessions = []
  for (let at = 0; at < settings.sessions; at++) {
    const session = await liveSession([])
    sessions.push(session)
    void (async () => {
      for await (const event of session) {
        if (event.type === 'audio') ages.add(ageMs(event.data))
        else if (event.type === 'lagged') lost += event.dropped
        else if (event.type === 'error') lost++
      }
    })()
  }
  const result = await stream((at, bytes) => void sessions[at].send({ audio: bytes }), ages)
  print('RESULT', { ...result, lost })
  process.exit(0)
}

const roles = {
  server,
  'bare-calls': bareCalls,
  'toolwright-calls': toolwrightCalls,
  'bare-audio': bareAudio,
  'toolwright-audio': toolwrightAudio,
}
await roles[role]()
