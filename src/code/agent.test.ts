// A whole turn: the model writes code, the code calls a tool and writes a file, the model reads what it printed.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import { InMemoryArtifactService } from '../artifact/in-memory.ts'
import { Runner } from '../runner/runner.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import type { CodeExecutor } from '../tool/code-executor.ts'
import { tool } from '../tool/define.ts'
import { hasPython, isolationsHere } from './code.test-kit.ts'
import { isolatedProcess } from './isolated-process.ts'
import { quickjs } from './quickjs.ts'

const [isolation] = await isolationsHere()

const price = tool({
  name: 'price',
  description: 'Price of an article',
  effect: 'none',
  parameters: z.object({ article: z.string() }),
  run: ({ article }) => ({ price: article.length }),
})

async function turn(codeExecutor: CodeExecutor, language: string, code: string) {
  const artifactService = new InMemoryArtifactService()
  const model = scriptedModel([
    `Let me see.\n\`\`\`${language}\n${code}\n\`\`\``,
    ({ contents }) => `It printed: ${contents.at(-1)?.parts[0]?.codeExecutionResult?.output}`,
  ])
  const agent = new LlmAgent({ name: 'analyst', model, tools: [price], codeExecutor })
  const runner = new Runner({ appName: 'app', agent, artifactService })
  const { text } = await runner.complete({ userId: 'ada', sessionId: 's', message: 'What is it all together?' })
  const artifact = { appName: 'app', userId: 'ada', sessionId: 's', filename: 'sum.txt' }
  const saved = await artifactService.loadArtifact(artifact)
  return { text, saved: saved?.inlineData && Buffer.from(saved.inlineData.data, 'base64').toString() }
}

const done = { text: 'It printed: 10\nSaved as artifacts: sum.txt.', saved: '10' }

test('in QuickJS', async () => {
  const code = `const all = await Promise.all(['bread', 'apple'].map((article) => tools.price({ article })))
const sum = all.reduce((sum, { price }) => sum + price, 0)
writeFile('sum.txt', String(sum))
sum`
  expect(await turn(quickjs(), 'js', code)).toEqual(done)
})

test.skipIf(!isolation || !hasPython)('in Python, isolated', async () => {
  const code = `import tools
total = sum(tools.price(article=name)["price"] for name in ["bread", "apple"])
open("sum.txt", "w").write(str(total))
print(total)`
  expect(await turn(isolatedProcess({ languages: ['python'], isolation }), 'python', code)).toEqual(done)
})

test('code that needs a yes does not run without one', async () => {
  const codeExecutor = quickjs({ requiresConfirmation: true })
  expect((await turn(codeExecutor, 'js', 'writeFile("sum.txt", "x")')).saved).toBeUndefined()
})
