// This repository's package: LlmAgent + Runner on the in-memory services, a plain object as the model.
// A fresh turn deletes its session afterwards, as google-adk's runEphemeral and the iqai-adk adapter do: the frameworks
// without sessions keep nothing of a turn. The time of the deletion is part of our figure. With `keepSessions`, it stays in the store.
const appName = 'bench'
const userId = 'u'
const message = 'Weather?'

export default {
  name: 'toolwright',
  pack: true, // run.mjs packs the repository and installs the tarball
  extras: ['zod@4.6.7'],
  entry: 'toolwright',
  keepsSessions: true,

  async create({ tools, reply, deltas, maxSteps, keepSessions }) {
    const { LlmAgent, Runner, tool } = await import('toolwright')

    const respond = (parts, partial) => ({ content: { role: 'model', parts }, ...(partial && { partial }) })
    const model = {
      name: 'scripted',
      async *generate({ contents }, { stream }) {
        if (stream) {
          for (const text of deltas) yield respond([{ text }], true)
          yield respond([{ text: deltas.join('') }])
          return
        }
        const out = reply(contents.at(-1).role === 'tool', contents.length)
        yield respond(
          out.calls
            ? out.calls.map(({ id, name, args }) => ({ functionCall: { id, name, args } }))
            : [{ text: out.text }],
        )
      },
    }

    const agent = new LlmAgent({
      name: 'bench',
      model,
      instruction: 'You are a weather bot.',
      tools: tools.map(({ name, description, schema, execute }) =>
        tool({ name, description, parameters: schema, run: execute }),
      ),
      ...(maxSteps && { maxIterations: maxSteps }),
    })
    const runner = new Runner({ appName, agent })
    const forget = (sessionId) => runner.sessionService.deleteSession({ appName, userId, sessionId })

    return {
      async turn() {
        const { text, sessionId } = await runner.complete({ userId, message })
        if (!keepSessions) await forget(sessionId)
        return text
      },
      async session() {
        const { id: sessionId } = await runner.sessionService.createSession({ appName, userId })
        return async () => (await runner.complete({ userId, sessionId, message })).text
      },
      async stream() {
        let n = 0
        const run = runner.run({ userId, message, runConfig: { streaming: true } })
        for await (const event of run) if (event.partial) n++
        await forget(run.sessionId)
        return n
      },
    }
  },
}
