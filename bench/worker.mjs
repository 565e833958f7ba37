// Runs scenarios for ONE adapter in this process and prints one JSON line.
// usage: node --expose-gc worker.mjs <adapter> <loop|concurrency|first>
import { z } from 'zod'

const [name, part] = process.argv.slice(2)
// Output of frameworks is discarded, because stdout holds the result.
console.log = console.info = console.debug = () => {}
const adapter = (await import(`./${name}.mjs`)).default
const quick = process.env.BENCH_QUICK === '1'
const WARM_MS = quick ? 100 : 500
const MEASURE_MS = quick ? 100 : 600

const now = () => performance.now()
const sleep = (ms) => new Promise((r) => setTimeout(r, ms))
const median = (xs) => [...xs].sort((a, b) => a - b)[xs.length >> 1]
const mean = (xs) => xs.reduce((a, b) => a + b, 0) / xs.length

async function heap() {
  for (let i = 0; i < 3; i++) {
    gc()
    await sleep(5)
  }
  return process.memoryUsage().heapUsed
}

// ---- the scripted model -------------------------------------------------------------------------
// reply(afterTool, historyLength) is called by the adapter's fake model exactly once per model call, on entry.
let executed = 0
let historySeen = 0 // number of messages in the latest request
let callId = 0
const argsJson = '{"city":"Paris","units":"C"}' // for model interfaces whose arguments are a JSON string
const oneCall = (tool = 'get_weather') => ({
  id: `call_${++callId}`,
  name: tool,
  args: { city: 'Paris', units: 'C' },
  argsJson,
})
const DONE = 'It is sunny.'

/** model: `width` calls after a user message, final text after a tool result */
const scripted =
  (width = 1, tool) =>
  (afterTool, length) => {
    historySeen = length
    return afterTool ? { text: DONE } : { calls: Array.from({ length: width }, () => oneCall(tool)) }
  }

/** model: `depth` single calls one after another, then text; `at` receives the time of each model call */
function chained(depth, at) {
  let step = 0
  return () => {
    at.push(now())
    if (step++ === depth) {
      step = 0
      return { text: DONE }
    }
    return { calls: [oneCall()] }
  }
}

function makeTools(count = 1, execute = async ({ city, units }) => ({ city, temp: 21, units: units ?? 'C' })) {
  return Array.from({ length: count }, (_, i) => ({
    name: i === 0 ? 'get_weather' : `get_weather_${i}`,
    description: `Weather for a city (${i})`,
    schema: z.object({ city: z.string().describe('City name'), units: z.string().optional() }),
    // the same shape for providers whose strict JSON schema has no optional fields
    strictSchema: z.object({ city: z.string().describe('City name'), units: z.string().nullable().optional() }),
    execute: (args) => {
      executed++
      return execute(args)
    },
  }))
}

async function check(turn, expectCalls) {
  executed = 0
  const text = await turn()
  if (text !== DONE) throw new Error(`wrong final text: ${JSON.stringify(text)}`)
  if (executed !== expectCalls) throw new Error(`tool ran ${executed}x, expected ${expectCalls}`)
}

async function forMs(ms, min, fn) {
  const end = now() + ms
  let n = 0
  while (n < min || now() < end) {
    await fn()
    n++
  }
  return n
}

/** median of batch means (µs/turn) and retained heap per turn (bytes) */
async function steady(turn, calls, warmTurns = quick ? 20 : 300) {
  // a minimum number of turns, so that the JIT also warms up for slow frameworks
  await check(turn, calls)
  await forMs(WARM_MS, warmTurns, turn)
  const t0 = now()
  await turn()
  const batch = Math.max(1, Math.min(500, Math.round(40 / (now() - t0)))) // ~40 ms a batch
  const h0 = await heap()
  const means = []
  const batches = await forMs(MEASURE_MS, 5, async () => {
    const t = now()
    for (let i = 0; i < batch; i++) await turn()
    means.push(((now() - t) * 1000) / batch)
  })
  const h1 = await heap()
  return { us: median(means), heapB: (h1 - h0) / (batches * batch) }
}

// ---- scenarios ----------------------------------------------------------------------------------
const loopScenarios = {
  async S1() {
    const a = await adapter.create({ tools: makeTools(), reply: scripted(), deltas: [] })
    const t = now()
    for (let i = 0; i < 1000; i++) await a.turn() // the first scenario of the process, before the JIT has compiled anything
    const firstUs = now() - t // ms per 1,000 turns = us per turn
    return { ...(await steady(a.turn, 1)), firstUs }
  },
  async S2() {
    const a = await adapter.create({ tools: makeTools(), reply: scripted(8), deltas: [] })
    return steady(a.turn, 8)
  },
  async S3() {
    const at = []
    const a = await adapter.create({ tools: makeTools(), reply: chained(50, at), deltas: [], maxSteps: 60 })
    await check(a.turn, 50)
    await forMs(WARM_MS, 3, a.turn)
    const h0 = await heap()
    const early = [],
      late = [],
      total = []
    const runs = await forMs(MEASURE_MS, 5, async () => {
      at.length = 0
      const t = now()
      await a.turn()
      total.push((now() - t) * 1000)
      early.push(((at[10] - at[0]) * 1000) / 10)
      late.push(((at[50] - at[40]) * 1000) / 10)
    })
    const h1 = await heap()
    return { us: median(total), early: median(early), late: median(late), heapB: (h1 - h0) / runs }
  },
  async S4() {
    const a = await adapter.create({ tools: makeTools(), reply: scripted(), deltas: [] })
    const early = [],
      late = [],
      heaps = [],
      total = []
    const end = now() + MEASURE_MS
    for (let s = 0; s < 2 || (now() < end && s < 30); s++) {
      const turn = await a.session()
      const h0 = await heap()
      const times = []
      for (let i = 0; i < 200; i++) {
        const t = now()
        if (i === 0) await check(turn, 1)
        else await turn()
        times.push((now() - t) * 1000)
      }
      const h1 = await heap()
      await turn() // keeps the session reachable while its heap is measured
      if (historySeen < 3 * 199) throw new Error(`model saw only ${historySeen} messages at turn 200`)
      if (s === 0) continue // warm-up
      early.push(median(times.slice(40, 60)))
      late.push(median(times.slice(180)))
      total.push(mean(times))
      heaps.push((h1 - h0) / 200)
    }
    return { us: median(total), early: median(early), late: median(late), heapB: median(heaps) }
  },
  async S5() {
    const tools = makeTools(1000)
    await heap() // collects garbage of the schemas and of earlier scenarios
    const t = now()
    const a = await adapter.create({ tools, reply: scripted(1, 'get_weather_500'), deltas: [] })
    const setupMs = now() - t
    return { ...(await steady(a.turn, 1, 20)), setupMs }
  },
  async S7() {
    const N = 500
    const deltas = Array.from({ length: N }, (_, i) => `w${i} `)
    const a = await adapter.create({ tools: makeTools(), reply: () => ({ text: DONE }), deltas })
    const got = await a.stream()
    if (got !== N) throw new Error(`consumer saw ${got} deltas, expected ${N}`)
    const r = await steadyStream(a.stream)
    return { us: r.us / N, heapB: r.heapB }
  },
  async S9() {
    const tools = makeTools(1, async ({ city }) => {
      await sleep(20)
      return { city, temp: 21 }
    })
    const a = await adapter.create({ tools, reply: scripted(8), deltas: [] })
    const ms = []
    for (let i = 0; i < 6; i++) {
      const t = now()
      await check(a.turn, 8)
      if (i) ms.push(now() - t)
    }
    return { ms: median(ms) }
  },
  S1k: () => kept({ width: 1, turns: 4000 }),
  S2k: () => kept({ width: 8, turns: 1000 }),
}

/**
 * µs/turn when the session of every turn stays in the store. Each round has a store of its own, so that the memory of the process is that
 * of `turns` sessions. The mean of a round, not of a part of it: keeping things costs a collection now and then.
 */
async function kept({ width, turns }) {
  if (!adapter.keepsSessions) return undefined
  const count = quick ? 100 : turns
  const means = []
  await forMs(WARM_MS + MEASURE_MS, 6, async () => {
    const a = await adapter.create({ tools: makeTools(), reply: scripted(width), deltas: [], keepSessions: true })
    await check(a.turn, width)
    const t = now()
    for (let i = 0; i < count; i++) await a.turn()
    means.push(((now() - t) * 1000) / count)
  })
  return { us: median(means.slice(means.length >> 1)) } // the first half warms up
}

async function steadyStream(stream) {
  await forMs(WARM_MS / 2, 3, stream)
  const h0 = await heap()
  const us = []
  const n = await forMs(MEASURE_MS / 2, 5, async () => {
    const t = now()
    await stream()
    us.push((now() - t) * 1000)
  })
  return { us: median(us), heapB: ((await heap()) - h0) / n }
}

const concurrencyScenario = {
  async S6() {
    let delay = 0
    const tools = makeTools(1, async ({ city }) => {
      await sleep(delay)
      return { city, temp: 21 }
    })
    const a = await adapter.create({ tools, reply: scripted(), deltas: [] })
    await check(a.turn, 1)
    for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 20 }, a.turn)) // warm-up
    delay = 10
    await heap()
    const rss0 = process.memoryUsage.rss()
    executed = 0
    const t = now()
    const texts = await Promise.all(Array.from({ length: 1000 }, () => a.turn()))
    const ms = now() - t
    if (executed !== 1000 || texts.some((x) => x !== DONE)) throw new Error('bad concurrent result')
    const peakMB = process.resourceUsage().maxRSS / 1024
    return { ms, peakMB, growMB: peakMB - rss0 / 1048576 }
  },
}

const firstTurnScenario = {
  /** From a process that has imported the kit and zod to the answer of its first turn: tool, agent, one call, final text. */
  async S10() {
    await import(adapter.entry)
    const t = now()
    const a = await adapter.create({ tools: makeTools(), reply: scripted(), deltas: [], keepSessions: true })
    const text = await a.turn()
    const ms = now() - t
    if (text !== DONE || executed !== 1) throw new Error(`wrong first turn: ${JSON.stringify(text)}`)
    return { ms }
  },
}

const parts = { loop: loopScenarios, concurrency: concurrencyScenario, first: firstTurnScenario }
const out = {}
const only = process.env.BENCH_ONLY?.split(',')
for (const [id, fn] of Object.entries(parts[part])) {
  if (only && !only.includes(id)) continue
  try {
    const metrics = await fn()
    if (metrics) out[id] = metrics // an adapter may lack what a scenario needs
  } catch (e) {
    out[id] = { error: String(e?.stack ?? e).slice(0, 600) }
  }
}
process.stdout.write(`\nRESULT ${JSON.stringify(out)}\n`, () => process.exit(0))
