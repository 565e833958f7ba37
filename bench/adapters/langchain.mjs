// langchain createAgent (LangGraph underneath) with a BaseChatModel subclass.
// bindTools converts the tools to JSON schema on each bind, as the real chat-model integrations do.
// S4 uses MemorySaver; a fresh turn runs without a checkpointer. LangSmith tracing is off.
export default {
  name: 'langchain',
  version: '1.5.14',
  install: ['langchain@1.5.14'],
  entry: 'langchain',
  env: { LANGSMITH_TRACING: 'false', LANGCHAIN_TRACING_V2: 'false' },

  async create({ tools, reply, deltas, maxSteps = 20 }) {
    const { createAgent, tool } = await import('langchain')
    const { MemorySaver } = await import('@langchain/langgraph')
    const { BaseChatModel } = await import('@langchain/core/language_models/chat_models')
    const { AIMessage, AIMessageChunk } = await import('@langchain/core/messages')
    const { ChatGenerationChunk } = await import('@langchain/core/outputs')
    const { convertToOpenAITool } = await import('@langchain/core/utils/function_calling')

    class ScriptedModel extends BaseChatModel {
      _llmType() {
        return 'scripted'
      }
      bindTools(bound, options) {
        return this.withConfig({ tools: bound.map((t) => convertToOpenAITool(t)), ...options })
      }
      async _generate(messages) {
        const out = reply(messages.at(-1).getType() === 'tool', messages.length)
        const message = out.calls
          ? new AIMessage({
              content: '',
              tool_calls: out.calls.map(({ id, name, args }) => ({ id, name, args, type: 'tool_call' })),
            })
          : new AIMessage(out.text)
        return { generations: [{ text: out.text ?? '', message }] }
      }
      async *_streamResponseChunks(_messages, _options, runManager) {
        for (const text of deltas) {
          const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(text) })
          yield chunk
          await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk })
        }
      }
    }

    const make = (extra) =>
      createAgent({
        model: new ScriptedModel({}),
        systemPrompt: 'You are a weather bot.',
        tools: tools.map((t) => tool(t.execute, { name: t.name, description: t.description, schema: t.schema })),
        ...extra,
      })
    const agent = make()
    const recursionLimit = maxSteps * 2 + 5
    const input = () => ({ messages: [{ role: 'user', content: 'Weather?' }] })
    const last = (state) => state.messages.at(-1).content

    return {
      turn: async () => last(await agent.invoke(input(), { recursionLimit })),
      session() {
        const threaded = make({ checkpointer: new MemorySaver() })
        const config = { recursionLimit, configurable: { thread_id: '1' } }
        return async () => last(await threaded.invoke(input(), config))
      },
      async stream() {
        let n = 0
        for await (const [chunk] of await agent.stream(input(), { streamMode: 'messages' })) if (chunk.content) n++
        return n
      },
    }
  },
}
