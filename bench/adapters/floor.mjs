// Hand-written loop: the floor. Same scripted model, a Map lookup and a zod parse, nothing else.
export default {
  name: 'floor',
  version: 'hand-written',
  install: ['zod@4.6.7'],
  entry: 'zod',
  keepsSessions: true,

  async create({ tools, reply, deltas, keepSessions }) {
    const byName = new Map(tools.map((t) => [t.name, t]))

    const model = {
      async generate(messages) {
        return reply(messages.at(-1).role === 'tool', messages.length)
      },
      async *stream() {
        yield* deltas
      },
    }

    async function call({ id, name, args }) {
      const tool = byName.get(name)
      const parsed = tool.schema.parse(args)
      return { role: 'tool', id, name, content: JSON.stringify(await tool.execute(parsed)) }
    }

    async function loop(messages) {
      messages.push({ role: 'user', content: 'Weather?' })
      for (;;) {
        const out = await model.generate(messages)
        if (!out.calls) {
          messages.push({ role: 'assistant', content: out.text })
          return out.text
        }
        messages.push({ role: 'assistant', calls: out.calls })
        messages.push(...(await Promise.all(out.calls.map(call))))
      }
    }

    const kept = []
    function turnInKeptSession() {
      const messages = []
      kept.push(messages)
      return loop(messages)
    }

    return {
      turn: keepSessions ? turnInKeptSession : () => loop([]),
      session() {
        const messages = []
        return () => loop(messages)
      },
      async stream() {
        let n = 0
        for await (const delta of model.stream()) if (delta) n++
        return n
      },
    }
  },
}
