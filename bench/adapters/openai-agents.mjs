// @openai/agents: Agent + Runner with an object implementing its Model interface; tracing disabled
// (its default exporter posts to the network). S4 uses MemorySession.
export default {
  name: 'openai-agents',
  version: '0.20.0',
  install: ['@openai/agents@0.20.0'],
  entry: '@openai/agents',

  async create({ tools, reply, deltas, maxSteps = 20 }) {
    const { Agent, MemorySession, Runner, Usage, setTracingDisabled, tool } = await import('@openai/agents')
    setTracingDisabled(true)

    const message = (text) => ({
      type: 'message',
      id: 'm',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text }],
    })
    const model = {
      async getResponse({ input }) {
        const out = reply(typeof input !== 'string' && input.at(-1).type === 'function_call_result', input.length)
        return {
          usage: new Usage(),
          output: out.calls
            ? out.calls.map((c) => ({
                type: 'function_call',
                callId: c.id,
                name: c.name,
                status: 'completed',
                arguments: c.argsJson,
              }))
            : [message(out.text)],
        }
      },
      async *getStreamedResponse() {
        yield { type: 'response_started' }
        for (const delta of deltas) yield { type: 'output_text_delta', delta }
        yield {
          type: 'response_done',
          response: {
            id: 'r',
            usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
            output: [message(deltas.join(''))],
          },
        }
      },
    }

    const agent = new Agent({
      name: 'bench',
      instructions: 'You are a weather bot.',
      model,
      // strict mode (the default) rejects optional fields; nullable().optional() is its documented form
      tools: tools.map((t) =>
        tool({ name: t.name, description: t.description, parameters: t.strictSchema, execute: t.execute }),
      ),
    })
    const runner = new Runner({ tracingDisabled: true })
    const maxTurns = maxSteps

    return {
      turn: async () => (await runner.run(agent, 'Weather?', { maxTurns })).finalOutput,
      session() {
        const session = new MemorySession()
        return async () => (await runner.run(agent, 'Weather?', { maxTurns, session })).finalOutput
      },
      async stream() {
        let n = 0
        const result = await runner.run(agent, 'Weather?', { stream: true })
        for await (const e of result)
          if (e.type === 'raw_model_stream_event' && e.data.type === 'output_text_delta') n++
        return n
      },
    }
  },
}
