// genkit: ai.generate with a model registered through defineModel. Runs on zod 3 (genkit's own).
// S4 carries response.messages into the next generate call, as its stable API keeps a conversation.
// No telemetry plugin is enabled and GENKIT_ENV is not "dev", so nothing is exported.
const user = (content) => ({ role: 'user', content: [{ text: content }] })

export default {
  name: 'genkit',
  version: '1.42.0',
  install: ['genkit@1.42.0'],
  entry: 'genkit',
  env: { GENKIT_ENV: 'prod' },

  async create({ tools: specs, reply, deltas, maxSteps = 20 }) {
    const { genkit } = await import('genkit')
    const { logger } = await import('genkit/logging')
    logger.setLogLevel('error')
    const ai = genkit({})

    const model = ai.defineModel(
      { name: 'scripted', apiVersion: 'v2', supports: { tools: true, multiturn: true, systemRole: true } },
      async (request, { streamingRequested, sendChunk }) => {
        if (deltas.length && streamingRequested) {
          for (const text of deltas) sendChunk({ index: 0, content: [{ text }] })
          return { message: { role: 'model', content: [{ text: deltas.join('') }] }, finishReason: 'stop' }
        }
        const out = reply(request.messages.at(-1).role === 'tool', request.messages.length)
        const content = out.calls
          ? out.calls.map((c) => ({ toolRequest: { ref: c.id, name: c.name, input: c.args } }))
          : [{ text: out.text }]
        return { message: { role: 'model', content }, finishReason: 'stop' }
      },
    )
    const tools = specs.map((t) =>
      ai.defineTool({ name: t.name, description: t.description, inputSchema: t.schema }, t.execute),
    )
    const base = { model, tools, maxTurns: maxSteps }
    const system = 'You are a weather bot.'

    return {
      turn: async () => (await ai.generate({ ...base, system, prompt: 'Weather?' })).text,
      session() {
        let messages = [{ role: 'system', content: [{ text: system }] }]
        return async () => {
          const response = await ai.generate({ ...base, messages: [...messages, user('Weather?')] })
          messages = response.messages
          return response.text
        }
      },
      async stream() {
        let n = 0
        const { stream, response } = ai.generateStream({ ...base, system, prompt: 'Weather?' })
        for await (const chunk of stream) if (chunk.text) n++
        await response
        return n
      },
    }
  },
}
