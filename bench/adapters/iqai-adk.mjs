// @iqai/adk: LlmAgent + Runner + InMemorySessionService, a BaseLlm subclass as the model.
// langfuse is an extra because the package's entry imports this "optional" peer unconditionally.
const APP = 'bench'
const USER = 'u'
const newMessage = () => ({ role: 'user', parts: [{ text: 'Weather?' }] })

export default {
  name: 'iqai-adk',
  version: '0.5.9',
  install: ['@iqai/adk@0.5.9', 'langfuse@3.38.6'],
  extras: ['zod@4.6.7'],
  entry: '@iqai/adk',
  env: { ADK_DEBUG: '', OTEL_SDK_DISABLED: 'true' },

  async create({ tools, reply, deltas }) {
    const { BaseLlm, InMemorySessionService, LlmAgent, LlmResponse, RunConfig, Runner, StreamingMode, createTool } =
      await import('@iqai/adk')

    class ScriptedLlm extends BaseLlm {
      constructor() {
        super('scripted')
      }
      async *generateContentAsyncImpl({ contents }, stream) {
        if (stream) {
          for (const text of deltas)
            yield new LlmResponse({ content: { role: 'model', parts: [{ text }] }, partial: true })
          yield new LlmResponse({ content: { role: 'model', parts: [{ text: deltas.join('') }] }, turnComplete: true })
          return
        }
        const out = reply(!!contents.at(-1).parts[0].functionResponse, contents.length)
        yield new LlmResponse({
          content: {
            role: 'model',
            parts: out.calls
              ? out.calls.map(({ id, name, args }) => ({ functionCall: { id, name, args } }))
              : [{ text: out.text }],
          },
        })
      }
    }

    const agent = new LlmAgent({
      name: 'bench',
      description: 'A weather bot',
      model: new ScriptedLlm(),
      instruction: 'You are a weather bot.',
      tools: tools.map((t) =>
        createTool({ name: t.name, description: t.description, schema: t.schema, fn: t.execute }),
      ),
    })
    const sessionService = new InMemorySessionService()
    const runner = new Runner({ appName: APP, agent, sessionService })

    async function run(sessionId, runConfig, onEvent) {
      let text
      for await (const e of runner.runAsync({ userId: USER, sessionId, newMessage: newMessage(), runConfig })) {
        text = e.content?.parts?.[0]?.text ?? text
        onEvent?.(e)
      }
      return text
    }
    async function ephemeral(runConfig, onEvent) {
      const { id } = await sessionService.createSession(APP, USER)
      try {
        return await run(id, runConfig, onEvent)
      } finally {
        await sessionService.deleteSession(APP, USER, id)
      }
    }

    return {
      turn: () => ephemeral(),
      async session() {
        const { id } = await sessionService.createSession(APP, USER)
        return () => run(id)
      },
      async stream() {
        let n = 0
        await ephemeral(new RunConfig({ streamingMode: StreamingMode.SSE }), (e) => {
          if (e.partial) n++
        })
        return n
      },
    }
  },
}
