// @mastra/core: Agent with a plain AI-SDK LanguageModel object. S4 uses @mastra/memory on InMemoryStore with
// lastMessages raised above the session's length, so that the model sees the whole history as with the other
// peers (Mastra's own default keeps the last 10 messages).
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }

export default {
  name: 'mastra',
  version: '1.71.0',
  install: ['@mastra/core@1.71.0'],
  extras: ['@mastra/memory@1.31.0'],
  entry: '@mastra/core/agent',
  env: { MASTRA_TELEMETRY_DISABLED: '1' },

  async create({ tools, reply, deltas, maxSteps = 20 }) {
    const { Agent } = await import('@mastra/core/agent')
    const { createTool } = await import('@mastra/core/tools')
    const { InMemoryStore } = await import('@mastra/core/storage')
    const { Memory } = await import('@mastra/memory')

    const parts = (prompt) => {
      if (deltas.length) {
        return [
          { type: 'text-start', id: '0' },
          ...deltas.map((delta) => ({ type: 'text-delta', id: '0', delta })),
          { type: 'text-end', id: '0' },
          { type: 'finish', finishReason: 'stop', usage },
        ]
      }
      const out = reply(prompt.at(-1).role === 'tool', prompt.length)
      return out.calls
        ? [
            ...out.calls.map((c) => ({ type: 'tool-call', toolCallId: c.id, toolName: c.name, input: c.argsJson })),
            { type: 'finish', finishReason: 'tool-calls', usage },
          ]
        : [
            { type: 'text-start', id: '0' },
            { type: 'text-delta', id: '0', delta: out.text },
            { type: 'text-end', id: '0' },
            { type: 'finish', finishReason: 'stop', usage },
          ]
    }
    const model = {
      specificationVersion: 'v2',
      provider: 'bench',
      modelId: 'scripted',
      supportedUrls: {},
      async doGenerate({ prompt }) {
        const out = reply(prompt.at(-1).role === 'tool', prompt.length)
        return out.calls
          ? {
              content: out.calls.map((c) => ({
                type: 'tool-call',
                toolCallId: c.id,
                toolName: c.name,
                input: c.argsJson,
              })),
              finishReason: 'tool-calls',
              usage,
              warnings: [],
            }
          : { content: [{ type: 'text', text: out.text }], finishReason: 'stop', usage, warnings: [] }
      },
      async doStream({ prompt }) {
        const list = parts(prompt)
        return {
          stream: new ReadableStream({
            start(c) {
              c.enqueue({ type: 'stream-start', warnings: [] })
              for (const p of list) c.enqueue(p)
              c.close()
            },
          }),
        }
      },
    }

    const make = (extra) =>
      new Agent({
        id: 'bench',
        name: 'bench',
        instructions: 'You are a weather bot.',
        model,
        tools: Object.fromEntries(
          tools.map((t) => [
            t.name,
            createTool({ id: t.name, description: t.description, inputSchema: t.schema, execute: t.execute }),
          ]),
        ),
        ...extra,
      })
    const agent = make()

    return {
      turn: async () => (await agent.generate('Weather?', { maxSteps })).text,
      session() {
        const threaded = make({ memory: new Memory({ storage: new InMemoryStore(), options: { lastMessages: 2000 } }) })
        const memory = { thread: 't1', resource: 'u1' }
        return async () => (await threaded.generate('Weather?', { maxSteps, memory })).text
      },
      async stream() {
        let n = 0
        const result = await agent.stream('Weather?', { maxSteps })
        for await (const delta of result.textStream) if (delta) n++
        return n
      },
    }
  },
}
