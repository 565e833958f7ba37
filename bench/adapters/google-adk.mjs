// @google/adk 2.x: LlmAgent + InMemoryRunner, a BaseLlm subclass as the model.
// A fresh turn uses runner.runEphemeral (create session, run, delete session).
const USER = 'u'
const userMessage = () => ({ role: 'user', parts: [{ text: 'Weather?' }] })

export default {
  name: 'google-adk',
  version: '2.0.0',
  install: ['@google/adk@2.0.0'],
  entry: '@google/adk',

  async create({ tools, reply, deltas }) {
    const { BaseLlm, FunctionTool, InMemoryRunner, LlmAgent, LogLevel, StreamingMode, setLogLevel } = await import(
      '@google/adk'
    )
    setLogLevel(LogLevel.ERROR)

    class ScriptedLlm extends BaseLlm {
      constructor() {
        super({ model: 'scripted' })
      }
      async *generateContentAsync({ contents }, stream) {
        if (stream) {
          for (const text of deltas) yield { content: { role: 'model', parts: [{ text }] }, partial: true }
          yield { content: { role: 'model', parts: [{ text: deltas.join('') }] }, turnComplete: true }
          return
        }
        const out = reply(!!contents.at(-1).parts[0].functionResponse, contents.length)
        yield out.calls
          ? {
              content: {
                role: 'model',
                parts: out.calls.map(({ id, name, args }) => ({ functionCall: { id, name, args } })),
              },
            }
          : { content: { role: 'model', parts: [{ text: out.text }] } }
      }
    }

    const agent = new LlmAgent({
      name: 'bench',
      model: new ScriptedLlm(),
      instruction: 'You are a weather bot.',
      tools: tools.map(
        (t) => new FunctionTool({ name: t.name, description: t.description, parameters: t.schema, execute: t.execute }),
      ),
    })
    const runner = new InMemoryRunner({ agent, appName: 'bench' })

    const finalText = async (events) => {
      let text
      for await (const e of events) text = e.content?.parts?.[0]?.text ?? text
      return text
    }

    return {
      turn: () => finalText(runner.runEphemeral({ userId: USER, newMessage: userMessage() })),
      async session() {
        const { id } = await runner.sessionService.createSession({ appName: 'bench', userId: USER })
        return () => finalText(runner.runAsync({ userId: USER, sessionId: id, newMessage: userMessage() }))
      },
      async stream() {
        let n = 0
        const runConfig = { streamingMode: StreamingMode.SSE }
        for await (const e of runner.runEphemeral({ userId: USER, newMessage: userMessage(), runConfig }))
          if (e.partial) n++
        return n
      },
    }
  },
}
