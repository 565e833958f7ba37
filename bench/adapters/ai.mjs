// Vercel AI SDK 7: ToolLoopAgent with a plain LanguageModelV4 object (the package's MockLanguageModelV4
// records every call and so grows by itself). The SDK has no session: S4 keeps the message array, as its docs do.
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

export default {
  name: 'ai',
  version: '7.0.169',
  install: ['ai@7.0.169'],
  entry: 'ai',

  async create({ tools, reply, deltas, maxSteps = 20 }) {
    const { ToolLoopAgent, isStepCount, tool } = await import('ai')

    const model = {
      specificationVersion: 'v4',
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
              finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
              usage,
              warnings: [],
            }
          : {
              content: [{ type: 'text', text: out.text }],
              finishReason: { unified: 'stop', raw: 'stop' },
              usage,
              warnings: [],
            }
      },
      async doStream() {
        return {
          stream: new ReadableStream({
            start(c) {
              c.enqueue({ type: 'stream-start', warnings: [] })
              c.enqueue({ type: 'text-start', id: '0' })
              for (const delta of deltas) c.enqueue({ type: 'text-delta', id: '0', delta })
              c.enqueue({ type: 'text-end', id: '0' })
              c.enqueue({ type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage })
              c.close()
            },
          }),
        }
      },
    }

    const agent = new ToolLoopAgent({
      model,
      instructions: 'You are a weather bot.',
      tools: Object.fromEntries(
        tools.map((t) => [t.name, tool({ description: t.description, inputSchema: t.schema, execute: t.execute })]),
      ),
      stopWhen: isStepCount(maxSteps),
    })

    return {
      turn: async () => (await agent.generate({ prompt: 'Weather?' })).text,
      session() {
        const messages = []
        return async () => {
          messages.push({ role: 'user', content: 'Weather?' })
          const result = await agent.generate({ messages })
          messages.push(...result.responseMessages)
          return result.text
        }
      },
      async stream() {
        let n = 0
        const result = await agent.stream({ prompt: 'Weather?' })
        for await (const delta of result.textStream) if (delta) n++
        return n
      },
    }
  },
}
